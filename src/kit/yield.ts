import type { Clock } from "./clock.ts";

/** How long one piece of work may keep the event loop before other requests get their turn. */
const SLICE_MS = 5;

/**
 * Breaks long work into slices: a function to be awaited between small pieces, which lets others in once a slice of time is
 * used up and otherwise costs nothing.
 */
export function cooperative(clock: Clock): () => Promise<void> | undefined {
  let since = clock.monotonic();
  return () => {
    if (clock.monotonic() - since < SLICE_MS) return undefined;
    return new Promise<void>((resolve) => setImmediate(resolve)).then(() => {
      since = clock.monotonic();
    });
  };
}
