import { expect, it, onTestFinished, vi } from "vitest";
import { Around } from "../../../src/redact/around.ts";
import { kindOf } from "../../../src/redact/pattern.ts";

it("counts the signs of a kind once, however many places it has: a text with all marks asks for those of hundreds of patterns", () => {
  const counted = vi.spyOn(Uint8Array.prototype, "reduce");
  onTestFinished(() => counted.mockRestore());
  const kinds = [...Array(40).fill(kindOf("a-f")), ...Array(80).fill(kindOf("0-9"))];
  const around = new Around();
  for (let end = 3; end < 23; end++) around.looks({ kinds, end, width: 4, from: 0, to: 40 });
  expect(counted.mock.calls.length).toBeLessThanOrEqual(2);
});
