import { describe, expect, it } from "vitest";
import { isSpent, scanPage } from "../../../src/kit/scan-page.ts";

const ALL = Array.from({ length: 40 }, (_, i) => i + 1);
const MAX_ROWS = 10;

/** Pages of the multiples of a number, three at a time, each looking at ten rows. */
const page = (cursor: string | undefined, multiplesOf: number) =>
  scanPage({
    cursor,
    limit: 3,
    parts: 1,
    budget: { rows: MAX_ROWS },
    keyOf: (row: number) => [row],
    async *walk(towards, start, budget) {
      const from = start?.[0];
      const beyond = ALL.filter((row) => from == null || (towards === "older" ? row < from : row > from));
      for (const row of towards === "older" ? beyond.reverse() : beyond) {
        if (isSpent(budget)) return;
        budget.rows--;
        yield { rows: [row], at: [row] };
      }
    },
    matches: (row) => row % multiplesOf === 0,
  });

describe("scanPage", () => {
  it("finds every row that matches once, whatever its budget stops", async () => {
    for (const multiplesOf of [1, 2, 7, 41]) {
      const rows: number[] = [];
      let at = await page(undefined, multiplesOf);
      expect(at.newer).toBeUndefined();
      for (let pages = 1; ; pages++) {
        rows.push(...at.rows);
        expect(at.left.rows).toBeGreaterThanOrEqual(0);
        if (!at.older) break;
        expect(pages).toBeLessThan(ALL.length);
        at = await page(at.older, multiplesOf);
      }
      expect(rows).toEqual(ALL.filter((row) => row % multiplesOf === 0).reverse());
    }
  });

  it("returns a short page when its budget is spent, and says where it stopped", async () => {
    const first = await page(undefined, 7);
    expect([first.rows, first.stoppedAt?.at, first.left.rows]).toEqual([[35], [31], 0]);
    const full = await page(undefined, 1);
    expect([full.rows, full.stoppedAt, full.left.rows]).toEqual([[40, 39, 38], undefined, MAX_ROWS - 4]);
  });

  it("goes back the same way, and gives the whole first page at the top", async () => {
    const first = await page(undefined, 2);
    const second = await page(first.older, 2);
    const third = await page(second.older, 2);
    expect([second.rows, third.rows]).toEqual([
      [34, 32, 30],
      [28, 26, 24],
    ]);
    expect((await page(third.newer, 2)).rows).toEqual(second.rows);
    const back = await page(second.newer, 2);
    expect([back.rows, back.newer]).toEqual([first.rows, undefined]);
  });
});
