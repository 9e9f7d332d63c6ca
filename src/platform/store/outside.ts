/** How long another process's change may go unseen. */
const RECHECK_MS = 25;

/**
 * Makes a watch for commits of other processes, such as a command beside the server, for caches in memory.
 * @param version SQLite's data_version; reading it takes several locks, more than all else that a small request does
 * @returns tells whether there was a commit since it last said so, given the instant of a monotonic clock in milliseconds
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
