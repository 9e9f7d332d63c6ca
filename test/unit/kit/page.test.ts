import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { keysetPage, pageSize, readCursor, writeCursor } from "../../../src/kit/page.ts";

const ALL = Array.from({ length: 23 }, (_, i) => i + 1);
const page = (cursor: string | undefined, limit = 5, all = ALL) =>
  keysetPage({
    cursor,
    limit,
    parts: 1,
    keyOf: (row: number) => [row],
    read: (towards, key, count) => {
      const at = key?.[0];
      return towards === "older"
        ? all
            .filter((one) => at == null || one < at)
            .reverse()
            .slice(0, count)
        : all.filter((one) => at == null || one > at).slice(0, count);
    },
  });

describe("keysetPage", () => {
  it("goes through every row once, newest first, and back", () => {
    const seen: number[] = [];
    let at = page(undefined);
    expect(at.newer).toBeUndefined();
    for (;;) {
      seen.push(...at.rows);
      if (!at.older) break;
      at = page(at.older);
    }
    expect(seen).toEqual(ALL.toReversed());
    const back: number[] = [];
    while (at.newer) {
      at = page(at.newer);
      back.unshift(...at.rows);
    }
    expect(back.slice(0, 5)).toEqual([23, 22, 21, 20, 19]);
  });

  it("gives the whole first page when going newer reaches the top", () => {
    const second = page(page(undefined).older);
    const shifted = page(second.newer, 7);
    expect(shifted.rows).toEqual([23, 22, 21, 20, 19, 18, 17]);
    expect(shifted.newer).toBeUndefined();
  });

  it("is not shifted by rows that arrive meanwhile", () => {
    const first = page(undefined);
    expect(page(first.older, 5, [...ALL, 24, 25]).rows).toEqual([18, 17, 16, 15, 14]);
  });

  it("has no links on an empty list", () => {
    expect(page(undefined, 5, [])).toEqual({ rows: [] });
  });
});

describe("a cursor", () => {
  it("survives being written and read", () => {
    for (const key of [[1], [null, 7], [-5, Number.MAX_SAFE_INTEGER]])
      expect(readCursor(writeCursor({ towards: "newer", key }), key.length)).toEqual({ towards: "newer", key });
  });

  it("that is garbage gives the first page", () => {
    const sound = writeCursor({ towards: "older", key: [1] });
    const wrong = [[0, "1"], [2, 1], [0, 1.5], [0], { 0: 0 }, [0, 1, 1], 7, [0, 1e300]].map((value) =>
      Buffer.from(JSON.stringify(value)).toString("base64url"),
    );
    for (const text of ["", "x", "%%", "a".repeat(1_000), `${sound}!`, ...wrong]) {
      expect(readCursor(text, 1), text).toBeUndefined();
      expect(page(text)).toEqual(page(undefined));
    }
    fc.assert(fc.property(fc.string(), (text) => readCursor(text, 1) === undefined || text.length > 3));
  });

  it("of another list is not accepted", () => {
    expect(readCursor(writeCursor({ towards: "older", key: [1, 2] }), 1)).toBeUndefined();
  });
});

it("keeps a page's size within 1 and 200", () => {
  expect([undefined, 0, -3, 1, 200, 201, 1.5, Number.NaN, 1e300].map(pageSize)).toEqual([
    50, 1, 1, 1, 200, 200, 50, 50, 50,
  ]);
});
