import { zstdCompressSync } from "node:zlib";
import { expect, it } from "vitest";
import { BlockCache, compressBlock, compressBlockNow, unpackBlock } from "../../../src/kit/blocks.ts";

it("gives back the texts of a block", async () => {
  const texts = Buffer.from("marigold ".repeat(100_000));
  for (const content of [await compressBlock(texts), compressBlockNow(texts)]) {
    expect(unpackBlock(content).equals(texts)).toBe(true);
    expect(new BlockCache().texts(1, () => content).equals(texts)).toBe(true);
  }
});

it("calls a block damaged that unpacks to more than any block holds", () => {
  const bomb = zstdCompressSync(Buffer.alloc(64 * 1024 * 1024 + 1));
  expect(bomb.length).toBeLessThan(8_192);
  expect(new BlockCache().texts(1, () => bomb)).toHaveLength(0);
  expect(() => unpackBlock(bomb)).toThrow();
});
