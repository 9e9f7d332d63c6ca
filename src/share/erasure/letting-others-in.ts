import { setImmediate, setTimeout } from "node:timers/promises";
import type { Core } from "../../core.ts";

/** Longer than a server beside this process waits until it asks for the lock again. */
const LEFT_MS = 10;
/** After transactions that took so long together. */
const TAKEN_MS = 20;
/** Only for so long after another process wrote. */
const OTHERS_WRITE_MS = 2_000;

/** Makes what is awaited between two transactions: it lets requests of this process in, and other processes write where any does. */
export function lettingOthersIn({ store, clock }: Pick<Core, "store" | "clock">): () => Promise<void> {
  const wrote = store.watchOutside();
  let left = clock.monotonic();
  wrote(left);
  let until = left;
  return async () => {
    const now = clock.monotonic();
    if (wrote(now)) until = now + OTHERS_WRITE_MS;
    const isLeft = now < until && now - left >= TAKEN_MS;
    await (isLeft ? setTimeout(LEFT_MS) : setImmediate());
    if (isLeft) left = clock.monotonic();
  };
}
