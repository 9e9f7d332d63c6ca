/** How long another process's change may go unseen. */
const RECHECK_MS = 25;

/**
 * Makes what notices the commits of other processes, such as a command beside the server, for what is kept in memory here.
 * @param version SQLite's data_version; asking costs several locks, more than all else that a small request does
 * @returns tells whether there was one since it said so last, given the instant of a monotonic clock in milliseconds
 */
export function outsideWatch(version: () => number): (now: number) => boolean {
  let checkedAt = Number.NEGATIVE_INFINITY;
  let known = -1;
  return (now) => {
    if (now - checkedAt < RECHECK_MS) return false;
    checkedAt = now;
    const before = known;
    known = version();
    return known !== before;
  };
}
