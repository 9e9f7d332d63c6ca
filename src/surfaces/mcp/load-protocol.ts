import { setImmediate } from "node:timers/promises";
import { slot } from "../../core.ts";

/**
 * What the library is made of, as far as it can be had by itself. Evaluated in one go, all of it would keep everybody else waiting for a
 * tenth of a second and more when the first message comes; its own part takes half of that.
 */
const PIECES: readonly (() => Promise<unknown>)[] = [
  async () => (await import("./zod-core.ts")).$ZodType,
  async () => (await import("./zod-schemas.ts")).ZodType,
  async () => (await import("./ajv.ts")).AjvJsonSchemaValidator,
];

/** Loads what answers a message, with the first one: an instance that is never sent one has neither the time nor the memory to spend. */
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
