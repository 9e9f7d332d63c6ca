/**
 * Finds names and addresses where they stand whole, in any case of letters: not within a longer one. A dot is part of an address when the
 * name goes on after it; otherwise it ends a sentence.
 */
export function wholeNames(names: readonly string[]): RegExp {
  const anyName = names.map((name) => RegExp.escape(name)).join("|");
  return new RegExp(
    `(?<![\\p{L}\\p{M}\\p{N}._%+-]|[\\p{L}\\p{N}]')(?:${anyName})(?![\\p{L}\\p{M}\\p{N}@-]|\\.[\\p{L}\\p{N}])`,
    "giu",
  );
}
