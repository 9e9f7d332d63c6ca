/** Days, or files, that are written at once. */
export const AT_ONCE = 4;

/** Does something with each, some at a time; all that was begun is ended before the first failure is told. */
export async function atOnce<T>(all: readonly T[], work: (one: T) => Promise<void>): Promise<void> {
  for (let at = 0; at < all.length; at += AT_ONCE) {
    const done = await Promise.allSettled(all.slice(at, at + AT_ONCE).map(work));
    const failed = done.find((one) => one.status === "rejected");
    if (failed) throw failed.reason;
  }
}
