import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { exceededBound, type JsonLimits } from "../../../src/kit/json-bounds.ts";

const LOOSE: JsonLimits = { depth: 64, values: 1_000_000, containers: 1_000_000, names: 1_000_000 };

/** What a parsed value holds, counted the slow way. */
function holds(value: unknown, depth = 1): { depth: number; containers: number } {
  if (typeof value !== "object" || value === null) return { depth: 0, containers: 0 };
  const inner = Object.values(value).map((one) => holds(one, depth + 1));
  return {
    depth: 1 + Math.max(0, ...inner.map((one) => one.depth)),
    containers: 1 + inner.reduce((sum, one) => sum + one.containers, 0),
  };
}

describe("the bounds on a JSON text", () => {
  it("hold exactly as deep, and as many arrays and objects, as parsing it would find", () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 8 }), (text) => {
        const { depth, containers } = holds(JSON.parse(text));
        const limits = { ...LOOSE, depth, containers };
        expect(exceededBound(text, limits)).toBeUndefined();
        if (depth > 0) {
          expect(exceededBound(text, { ...limits, depth: depth - 1 })).toBe("depth");
          expect(exceededBound(text, { ...limits, containers: containers - 1 })).toBe("containers");
        }
      }),
    );
  });

  it("count nothing inside strings, however they are escaped", () => {
    const limits = { depth: 1, values: 1, containers: 1, names: 0 };
    for (const inside of ['[[[[\\"[[[', "{,,,", "\\", '"', '\\\\"', "a\u2028[", `[${"x".repeat(100_000)}:`])
      expect(exceededBound(JSON.stringify([inside]), limits), inside.slice(0, 20)).toBeUndefined();
  });

  it("end on texts that are no JSON, strings that never close and stray brackets among them", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('"', "\\", "[", "]", "{", "}", ",", ":", "a") }), (text) => {
        exceededBound(text, LOOSE);
      }),
    );
    expect(exceededBound('"abc', LOOSE)).toBeUndefined();
    expect(exceededBound("[".repeat(8_000_000), LOOSE)).toBe("depth");
    expect(exceededBound('{"a":'.repeat(1_300_000), LOOSE)).toBe("depth");
  });

  it("know numbers, brackets and names apart, because they cost differently", () => {
    const limits = { depth: 64, values: 100_000, containers: 10_000, names: 5_000 };
    const list = (unit: string, count: number) => `[${Array(count).fill(unit).join(",")}]`;
    expect(exceededBound(list("0", 90_000), limits)).toBeUndefined();
    expect(exceededBound(list("0", 110_000), limits)).toBe("values");
    expect(exceededBound(list("[]", 9_000), limits)).toBeUndefined();
    expect(exceededBound(list("[[[]]]", 4_000), limits)).toBe("containers");
    const named = (count: number) => `{${Array.from({ length: count }, (_, i) => `"name ${i}": 0`).join(",")}}`;
    expect(exceededBound(named(4_900), limits)).toBeUndefined();
    expect(exceededBound(named(6_000), limits)).toBe("names");
    // The same few names over and over are what an honest batch looks like.
    expect(exceededBound(list('{"a":1,"b":2}', 9_000), limits)).toBeUndefined();
  });
});
