/** How rare characters are in ordinary text: an anchor is looked for by its rarest few. */

/** English letters from the most to the least common; program text keeps roughly to it. */
const BY_USE = "etaoinshrdlucmfwypvbgkjqxz";

/** Roughly how many of a thousand characters of ordinary text are this one. */
function perMille(code: number): number {
  const letter = BY_USE.indexOf(String.fromCharCode(code));
  if (letter >= 0) return 80 * 0.86 ** letter;
  if (code === 32) return 150;
  if (code === 45 || code === 46) return 14;
  if (code === 95 || code === 47 || code === 58 || code === 34) return 9;
  return code >= 48 && code <= 57 ? 6 : 3;
}

const logUse = (set: readonly number[]): number => Math.log(set.reduce((sum, c) => sum + perMille(c), 0));

/**
 * The start of the rarest stretch of `width` positions, the last of several equal ones. Its last pair counts twice, since the search stops
 * there.
 */
export function rarest(sets: readonly (readonly number[])[], width: number): number {
  const uses = sets.map(logUse);
  let best = 0;
  let bestScore = Number.POSITIVE_INFINITY;
  for (let start = 0; start + width <= sets.length; start++) {
    let score = 0;
    for (let i = start; i < start + width; i++) score += (uses[i] as number) * (i < start + width - 2 ? 1 : 2);
    if (score > bestScore) continue;
    best = start;
    bestScore = score;
  }
  return best;
}
