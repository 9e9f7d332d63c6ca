import { expect, it, onTestFinished, vi } from "vitest";
import { Around } from "../../../src/redact/around.ts";
import { kindOf } from "../../../src/redact/pattern.ts";

it("counts the signs of a kind once, however many places it has: a text with all marks asks for those of hundreds of patterns", () => {
  const walks = (["reduce", "keys", "forEach", "filter"] as const).map((way) => vi.spyOn(Uint8Array.prototype, way));
  onTestFinished(() => {
    for (const walk of walks) walk.mockRestore();
  });
  const kinds = [...Array(40).fill(kindOf("a-f")), ...Array(80).fill(kindOf("0-9"))];
  const around = new Around();
  for (let end = 3; end < 23; end++) around.looks({ kinds, end, width: 4, from: 0, to: 40 });
  expect(walks.reduce((sum, walk) => sum + walk.mock.calls.length, 0)).toBeLessThanOrEqual(2);
});
