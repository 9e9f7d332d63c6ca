import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { exceededBound, type JsonLimits, PIECE_UNITS } from "../../../src/kit/json-bounds.ts";

const LOOSE: JsonLimits = { depth: 64, values: 1_000_000, containers: 1_000_000, beginnings: 1_000_000 };

const exceeded = (text: string, limits: JsonLimits) => exceededBound(text, limits, () => undefined);

/** What a parsed value holds, counted the slow way. */
function holds(value: unknown, depth = 1): { depth: number; containers: number } {
  if (typeof value !== "object" || value === null) return { depth: 0, containers: 0 };
  const inner = Object.values(value).map((one) => holds(one, depth + 1));
  return {
    depth: 1 + Math.max(0, ...inner.map((one) => one.depth)),
    containers: 1 + inner.reduce((sum, one) => sum + one.containers, 0),
  };
}

/** The i-th order of eight names. */
function orders(i: number): string[] {
  const left = [..."abcdefgh"];
  let rest = i;
  return Array.from({ length: 8 }, () => {
    const [name = ""] = left.splice(rest % left.length, 1);
    rest = Math.floor(rest / (left.length + 1));
    return name;
  });
}

describe("the bounds on a JSON text", () => {
  it("count exactly the depth, arrays and objects that parsing would find", async () => {
    await fc.assert(
      fc.asyncProperty(fc.json({ maxDepth: 8 }), async (text) => {
        const { depth, containers } = holds(JSON.parse(text));
        const limits = { ...LOOSE, depth, containers };
        expect(await exceeded(text, limits)).toBeUndefined();
        if (depth > 0) {
          expect(await exceeded(text, { ...limits, depth: depth - 1 })).toBe("depth");
          expect(await exceeded(text, { ...limits, containers: containers - 1 })).toBe("containers");
        }
      }),
    );
  });

  it("count nothing inside strings, however they are escaped", async () => {
    const limits = { depth: 1, values: 1, containers: 1, beginnings: 0 };
    for (const inside of ['[[[[\\"[[[', "{,,,", "\\", '"', '\\\\"', "a\u2028[", `[${"x".repeat(100_000)}:`])
      expect(await exceeded(JSON.stringify([inside]), limits), inside.slice(0, 20)).toBeUndefined();
  });

  it("stop at invalid JSON, unclosed strings and stray brackets among them", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.string({ unit: fc.constantFrom('"', "\\", "[", "]", "{", "}", ",", ":", "a") }),
        async (text) => {
          await exceeded(text, LOOSE);
        },
      ),
    );
    expect(await exceeded('"abc', LOOSE)).toBeUndefined();
    expect(await exceeded("[".repeat(8_000_000), LOOSE)).toBe("depth");
    expect(await exceeded('{"a":'.repeat(1_300_000), LOOSE)).toBe("depth");
  });

  it("count numbers, brackets and unlike objects separately, because they cost differently", async () => {
    const limits = { depth: 64, values: 100_000, containers: 10_000, beginnings: 5_000 };
    const list = (unit: string, count: number) => `[${Array(count).fill(unit).join(",")}]`;
    expect(await exceeded(list("0", 90_000), limits)).toBeUndefined();
    expect(await exceeded(list("0", 110_000), limits)).toBe("values");
    expect(await exceeded(list("[]", 9_000), limits)).toBeUndefined();
    expect(await exceeded(list("[[[]]]", 4_000), limits)).toBe("containers");
    const named = (count: number) => `{${Array.from({ length: count }, (_, i) => `"name ${i}": 0`).join(",")}}`;
    expect(await exceeded(named(4_900), limits)).toBeUndefined();
    expect(await exceeded(named(6_000), limits)).toBe("beginnings");
    // An honest batch repeats the same few names.
    expect(await exceeded(list('{"a":1,"b":2}', 9_000), limits)).toBeUndefined();
  });

  it("count unlike objects by the cost of parsing them: new beginnings, and more of them than are remembered", async () => {
    const limits = { ...LOOSE, beginnings: 5_000 };
    const list = (count: number, object: (i: number) => string) =>
      `[${Array.from({ length: count }, (_, i) => object(i)).join(",")}]`;
    // As many names as are remembered, each followed by few others, cost nothing however often they come.
    expect(
      await exceeded(
        list(60_000, (i) => `{"name ${i % 900}":{}}`),
        limits,
      ),
    ).toBeUndefined();
    expect(
      await exceeded(
        list(60_000, (i) => `{"name ${i % 2_000}":{}}`),
        limits,
      ),
    ).toBe("beginnings");
    expect(
      await exceeded(
        list(60_000, (i) => `{"a${i % 240}":0,"b${i % 241}":0}`),
        limits,
      ),
    ).toBe("beginnings");
    expect(
      await exceeded(
        list(60_000, (i) => `{"a${i % 60}":0,"b${i % 61}":0}`),
        limits,
      ),
    ).toBeUndefined();
    // The same few names in ever different orders.
    expect(
      await exceeded(
        list(20_000, (i) => `{${orders(i).map((name) => `"${name}":0`)}}`),
        limits,
      ),
    ).toBe("beginnings");
    // What a member holds does not change how its object goes on.
    expect(
      await exceeded(
        list(9_000, (i) => `{"a":{"b${i % 9}":[{}]},"c":0}`),
        limits,
      ),
    ).toBeUndefined();
  });

  it("let others in between pieces of a long text", async () => {
    let pauses = 0;
    await exceededBound(" ".repeat(3_000_000), LOOSE, () => void pauses++);
    expect(pauses).toBe(Math.floor(3_000_000 / PIECE_UNITS));
  });
});
