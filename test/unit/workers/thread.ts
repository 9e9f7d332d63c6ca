import { fail, tooLarge } from "../../../src/kit/problem.ts";
import { serve } from "../../../src/platform/workers/workers.ts";

/** What the pool's tests have threads do. */
serve({
  async echo(input) {
    return { made: input };
  },
  /** Adds one to every byte, in the memory that it came in. */
  async add(bytes: Uint8Array<ArrayBuffer>) {
    return { made: bytes.map((byte) => byte + 1), transfer: [] };
  },
  async ask(input, ask) {
    return { made: [input, await ask(input)] };
  },
  async refuse() {
    return fail(tooLarge, { message: "Too many.", members: { most: 3 }, retryAfterSeconds: 7 });
  },
  async err() {
    throw new RangeError("off the rails");
  },
  async exit() {
    process.exit(3);
  },
  async spin() {
    for (;;);
  },
  async hoard() {
    const all: unknown[] = [];
    for (;;) all.push(new Array(10_000).fill(all));
  },
  async function() {
    return { made: () => {} };
  },
});
