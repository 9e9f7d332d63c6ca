/**
 * The smallest id in `[1, last + 1]` from which on a condition holds, by binary search.
 * @param holds whether it holds for the first row at or after an id; true past the end
 */
export function firstWhere(last: number, holds: (id: number) => boolean): number {
  let low = 1;
  let high = last + 1;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
