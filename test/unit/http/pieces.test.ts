import { expect, it } from "vitest";
import { bodyOf } from "../../../src/platform/http/render.ts";
import { startInstance } from "../../support/instance.ts";
import { turnsDuring } from "../../support/slices.ts";

it("lets others have their turn while somebody takes a long copy as fast as it is made", async () => {
  const { core } = (await startInstance()).instance;
  const lines = Array.from({ length: 500 }, (_, i) => `line ${i}\n`);
  const { turns, result } = await turnsDuring(core, async (slow) => {
    const body = bodyOf(lines.values(), slow);
    return new Response(body as ReadableStream<Uint8Array>).text();
  });
  expect(result).toBe(lines.join(""));
  expect(turns).toBeGreaterThan(250);
});
