import { expect, it } from "vitest";
import { systemRandom } from "../../../src/kit/random.ts";

it("gives every byte once, in memory of its own", () => {
  const drawn = Array.from({ length: 5_000 }, (_, i) => systemRandom(16 + (i % 33)));
  expect(new Set(drawn.map((bytes) => bytes.subarray(0, 16).toString("hex"))).size).toBe(drawn.length);
  for (const [i, bytes] of drawn.entries()) {
    expect(bytes.length).toBe(16 + (i % 33));
    expect(bytes.buffer.byteLength).toBe(bytes.length);
  }
  // Bytes that were never filled would be zero more often than one in 256.
  const all = Buffer.concat(drawn);
  expect(all.filter((byte) => byte === 0).length / all.length).toBeLessThan(0.006);
});

it("gives as many as are asked for", () => {
  for (const length of [0, 1, 256, 257, 4_096, 10_000]) expect(systemRandom(length).length).toBe(length);
});
