import { setImmediate } from "node:timers/promises";
import { slot } from "../../core.ts";

/**
 * Parts of the library that can be loaded by themselves. Evaluated in one go, all of it would hold up everybody else for a tenth of a
 * second and more when the first message comes; the library's own part takes half of that.
 */
const PIECES: readonly (() => Promise<unknown>)[] = [
  async () => (await import("./zod-core.ts")).$ZodType,
  async () => (await import("./zod-schemas.ts")).ZodType,
];

/** Loads what answers messages, with the first message: an instance that gets none spares the time and the memory. */
export const loadProtocol = slot(async () => {
  for (const piece of PIECES) {
    await piece();
    // Others get their turn between.
    await setImmediate();
  }
  const { WARMING, answerMessage } = await import("./protocol.ts");
  for (const warm of WARMING) {
    await setImmediate();
    warm();
  }
  return answerMessage;
});
