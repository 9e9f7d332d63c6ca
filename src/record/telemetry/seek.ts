/** A row as it is met on the way: its id, and the number that rises with the ids. */
interface Met {
  readonly id: number;
  readonly deliveryId: number;
}

/**
 * Finds the first row, walking one way, that reaches a goal, by galloping and then halving (Bentley and Yao, 1976): near
 * goals cost one look, far ones the logarithm of their distance. Rows that reach the goal must all lie beyond those that do not.
 * @param probe the first row at or beyond a position, walking that way
 * @param sign 1 walks upward, -1 downward
 * @returns the row's id, or undefined when none reaches the goal
 */
export function seek(
  probe: (at: number) => Met | undefined,
  start: number,
  sign: 1 | -1,
  reaches: (deliveryId: number) => boolean,
): number | undefined {
  const first = probe(start);
  if (!first || reaches(first.deliveryId)) return first?.id;
  let near = first.id;
  let far = near;
  let best: number | undefined;
  for (let step = 1; ; step *= 2) {
    far = near + sign * step;
    const met = probe(far);
    if (!met) break;
    if (reaches(met.deliveryId)) {
      best = met.id;
      break;
    }
    near = met.id;
  }
  while (Math.abs(far - near) > 1) {
    const middle = near + sign * Math.floor(Math.abs(far - near) / 2);
    const met = probe(middle);
    if (met && !reaches(met.deliveryId)) near = met.id;
    else {
      far = middle;
      if (met) best = met.id;
    }
  }
  return best;
}
