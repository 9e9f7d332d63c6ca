import { describe, expect, it } from "vitest";
import { followLine, type LineEdit } from "../../../src/insight/causes/blame.ts";

interface Named extends LineEdit {
  readonly id: string;
}
const edit = (id: string, startLine: number | null, endLine: number | null, shift: number | null = null): Named => ({
  id,
  startLine,
  endLine,
  shift,
});
const found = (edits: readonly Named[], line: number) =>
  followLine(edits, line).map((match) => `${match.edit.id} ${match.band}`);

describe("followLine", () => {
  it("is certain of the newest edit that covers the line", () => {
    expect(found([edit("a", 10, 14)], 10)).toEqual(["a strong"]);
    expect(found([edit("a", 10, 14)], 14)).toEqual(["a strong"]);
  });

  it("follows the line above later edits that grew and shrank the file", () => {
    const edits = [edit("grew", 1, 5, 5), edit("shrank", 20, 20, -3), edit("old", 10, 14, 0)];
    expect(found(edits, 17)).toEqual(["old strong"]);
    expect(found(edits, 15)).toEqual(["old strong"]);
    expect(found(edits, 10).slice(-1)).toEqual(["old weak"]);
    expect(found([edit("removed", 3, 2, -4), edit("old", 8, 8, 0)], 4)).toEqual(["old strong"]);
  });

  it("is less certain when a later edit below does not say what it moved, and uncertain when one above does not", () => {
    expect(found([edit("below", 50, 60), edit("old", 10, 14)], 12)).toEqual(["old probable"]);
    expect(found([edit("above", 1, 5), edit("old", 10, 14)], 12)).toEqual(["old weak"]);
    expect(found([edit("untold", null, null), edit("old", 10, 14)], 12)).toEqual(["old weak"]);
  });

  it("names the edit that the newest one overwrote as weak, and stops where nothing stood before", () => {
    expect(found([edit("new", 10, 12, 0), edit("old", 10, 12, 3)], 11)).toEqual(["new strong", "old weak"]);
    expect(found([edit("inserted", 10, 12, 3), edit("old", 10, 12, 0)], 11)).toEqual(["inserted strong"]);
  });

  it("guesses where no edit covers the line", () => {
    expect(found([edit("a", 10, 14, 0), edit("b", 1, 2, 0)], 99)).toEqual(["a weak", "b weak"]);
    expect(found([edit("a", 10, 14, 0), edit("untold", null, null)], 99)).toEqual(["untold weak"]);
    expect(found([], 1)).toEqual([]);
    expect(
      found(
        Array.from({ length: 30 }, (_, i) => edit(`${i}`, 1, 2, 0)),
        99,
      ),
    ).toHaveLength(5);
  });

  it("agrees with a file that is edited at random", () => {
    let state = 7;
    const next = (below: number) => {
      state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
      return Math.floor((state / 2_147_483_648) * below);
    };
    for (let round = 0; round < 200; round++) {
      // Each line holds the name of the edit that wrote it.
      const file: string[] = Array.from({ length: 30 }, () => "first");
      const edits: Named[] = [];
      for (let i = 0; i < 12; i++) {
        const at = next(file.length);
        const before = Math.min(next(4), file.length - at);
        const after = next(5);
        if (before + after === 0) continue;
        file.splice(at, before, ...Array.from({ length: after }, () => `e${i}`));
        edits.unshift(edit(`e${i}`, at + 1, at + after, after - before));
      }
      file.forEach((author, i) => {
        const [newest] = followLine(edits, i + 1);
        if (author === "first") expect(newest?.band ?? "weak").toBe("weak");
        else expect([newest?.edit.id, newest?.band]).toEqual([author, "strong"]);
      });
    }
  });
});
