import type { Core } from "../../core.ts";
import { MINUTE_MS } from "../../kit/clock.ts";
import { StoreUnavailable } from "../../kit/errors.ts";

/**
 * Notes that a sign-in or token was used, at most once a minute. A full disk must not shut people out: a use that cannot be noted now is
 * noted with a later one.
 * @param lastAt when a use was noted last
 */
export async function noteUse(core: Core, lastAt: number | null, note: (now: number) => void): Promise<void> {
  const now = core.clock.now();
  if (lastAt !== null && now >= lastAt && now - lastAt < MINUTE_MS) return;
  try {
    await core.store.write(() => note(now));
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
  }
}
