/**
 * Finds names and addresses where they stand whole, in any case of letters: none is to be found within a longer one. A dot belongs to an
 * address where its name goes on behind it, and ends a sentence elsewhere.
 */
export function wholeNames(names: readonly string[]): RegExp {
  const anyName = names.map((name) => RegExp.escape(name)).join("|");
  return new RegExp(
    `(?<![\\p{L}\\p{M}\\p{N}._%+-]|[\\p{L}\\p{N}]')(?:${anyName})(?![\\p{L}\\p{M}\\p{N}@-]|\\.[\\p{L}\\p{N}])`,
    "giu",
  );
}
