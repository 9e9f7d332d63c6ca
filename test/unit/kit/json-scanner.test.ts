import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { JsonScanner } from "../../../src/kit/json-scanner.ts";

const DEPTH = 6;

/** The end of an object as the scanner finds it, or undefined where it refuses the text. */
function skipped(text: string): number | undefined {
  const json = JsonScanner.over(text, DEPTH);
  const range = json?.skipObject(0);
  return range && json?.ends() ? range.end : undefined;
}

function parses(text: string): boolean {
  try {
    const value = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

/** What JSON is made of, and what it is not. */
const PIECES = [
  ...["{", "}", "[", "]", ",", ":", " ", '"', '""', '"a"', '"a":', '"\\n"', '"\\u00e9"', '"\\u12"', '"\\x"', '"\\'],
  ...[
    "0",
    "-",
    "-0",
    "01",
    "1.",
    "1.5",
    ".5",
    "1e5",
    "1E+5",
    "1e",
    "+1",
    "NaN",
    "true",
    "tru",
    "false",
    "null",
    "\n",
    "\t",
  ],
  ...[
    "\u00e9",
    "\u4e2d",
    "\ud800",
    "\u0001",
    "{}",
    "[]",
    '{"a":1}',
    '{"a":{"b":[1,2,{}]}}',
    '"a long string with nothing in it at all"',
  ],
];

describe("a JSON scanner", () => {
  it("accepts only what JSON.parse accepts", () => {
    const text = fc.array(fc.constantFrom(...PIECES), { maxLength: 12 }).map((pieces) => pieces.join(""));
    fc.assert(
      fc.property(text, (some) => {
        for (const one of [some, `{"a":${some}}`, `{"a":[${some}],"b":2}`])
          if (skipped(one) !== undefined) expect(parses(one), one).toBe(true);
      }),
      { numRuns: 20_000 },
    );
  });

  it("accepts every object in one line that does not nest too deep", () => {
    const object = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: DEPTH - 2 }));
    fc.assert(
      fc.property(object, fc.constantFrom("", " "), (value, space) => {
        const text = JSON.stringify(value).replaceAll(/(?<=[{[])(?=["\d])/g, space);
        if (text.length !== JSON.stringify(value).length) return;
        expect(skipped(`${space}${text}${space}`)).toBe(space.length + text.length);
      }),
      { numRuns: 3_000 },
    );
  });

  it("accepts no invalid text after a change in one place", () => {
    const object = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 }));
    const change = fc.record({ at: fc.nat(), by: fc.constantFrom(...PIECES), isCut: fc.boolean() });
    // Making the objects is what costs, so each is changed in several ways.
    const changes = fc.array(change, { minLength: 5, maxLength: 5 });
    fc.assert(
      fc.property(object, changes, (value, ways) => {
        const text = JSON.stringify(value);
        for (const { at, by, isCut } of ways) {
          const place = at % text.length;
          const changed = isCut ? text.slice(0, place) : text.slice(0, place) + by + text.slice(place + 1);
          if (skipped(changed) !== undefined) expect(parses(changed), changed).toBe(true);
        }
      }),
      { numRuns: 4_000 },
    );
  });

  it("refuses what nests deeper than it may", () => {
    const nested = (levels: number) => `${'{"a":'.repeat(levels - 1)}{}${"}".repeat(levels - 1)}`;
    expect(skipped(nested(DEPTH))).toBe(nested(DEPTH).length);
    expect(skipped(nested(DEPTH + 1))).toBeUndefined();
    expect(skipped(`{"a":${"[".repeat(DEPTH)}${"]".repeat(DEPTH)}}`)).toBeUndefined();
  });

  it("reads a text of backslashes and quotes only once, however they are arranged", () => {
    const text = `{"a":"${'\\"'.repeat(500_000)}"}`;
    expect(skipped(text)).toBe(text.length);
    expect(skipped(`{"a":"${"\\\\".repeat(500_000)}`)).toBeUndefined();
  });
});
