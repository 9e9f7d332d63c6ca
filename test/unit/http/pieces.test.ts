import { expect, it } from "vitest";
import { bodyOf } from "../../../src/platform/http/render.ts";
import { startInstance } from "../../support/instance.ts";
import { turnsOfOthers } from "../../support/others.ts";

it("lets others have their turn while somebody takes a long copy as fast as it is made", async () => {
  const { core } = (await startInstance()).instance;
  const lines = Array.from({ length: 500 }, (_, i) => `line ${i}\n`);
  const { turns, done } = await turnsOfOthers(core, async () =>
    new Response(bodyOf(lines.values(), core) as ReadableStream<Uint8Array>).text(),
  );
  expect(done).toBe(lines.join(""));
  expect(turns).toBeGreaterThan(250);
});
