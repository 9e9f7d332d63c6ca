/** Finds names and addresses where they stand whole, in any case of letters: none is to be found within a longer one. */
export function wholeNames(names: readonly string[]): RegExp {
  const anyName = names.map((name) => RegExp.escape(name)).join("|");
  return new RegExp(`(?<![\\p{L}\\p{N}._%+-])(?:${anyName})(?![\\p{L}\\p{N}@-])`, "giu");
}
