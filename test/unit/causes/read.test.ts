import { describe, expect, it } from "vitest";
import { changesOfDiff, readLineEdits } from "../../../src/formats/edits.ts";
import { isSameFile, normalisePath } from "../../../src/insight/causes/paths.ts";
import { promptAt } from "../../../src/insight/causes/prompts.ts";
import { bodyFrom } from "../../../src/insight/causes/signals.ts";
import { datesFor, dayOf, overlaps, reachOf } from "../../../src/insight/causes/window.ts";

describe("paths", () => {
  it("brings the spellings of one path together", () => {
    expect(normalisePath("./src//a.ts")).toBe("src/a.ts");
    expect(normalisePath("src\\lib\\a.ts")).toBe("src/lib/a.ts");
    expect(normalisePath("src/x/../a.ts")).toBe("src/a.ts");
    expect(normalisePath("file:///home/me/shop/src/a.ts", ["/home/me/shop"])).toBe("src/a.ts");
    expect(normalisePath("C:\\work\\shop\\a.ts", ["C:/work/shop"])).toBe("a.ts");
    expect(normalisePath("/home/me/shop2/a.ts", ["/home/me/shop"])).toBe("/home/me/shop2/a.ts");
    for (const none of ["", ".", "/", "a/".repeat(2_000)]) expect(normalisePath(none)).toBeUndefined();
  });

  it("knows a file by as much of its path as each side has", () => {
    expect(isSameFile("src/a.ts", "src/a.ts")).toBe(true);
    expect(isSameFile("a.ts", "src/a.ts")).toBe(true);
    expect(isSameFile("src/a.ts", "/home/me/shop/src/a.ts")).toBe(true);
    expect(isSameFile("/home/me/shop/src/a.ts", "src/a.ts")).toBe(true);
    expect(isSameFile("src/a.ts", "a.ts")).toBe(false);
    expect(isSameFile("a.ts", "src/aa.ts")).toBe(false);
    expect(isSameFile("src/A.ts", "src/a.ts")).toBe(false);
  });
});

describe("readLineEdits", () => {
  const one = (edit: object) =>
    readLineEdits([{ path: "a.ts", ...edit }]).map(({ startLine, endLine, shift }) => [startLine, endLine, shift]);

  it("reads lines, and what moved below them, in each way that it may be told", () => {
    expect(one({ startLine: 3, endLine: 5 })).toEqual([[3, 5, null]]);
    expect(one({ startLine: 3, endLine: 5, oldLines: 1, newLines: 3 })).toEqual([[3, 5, 2]]);
    expect(one({ startLine: 3, endLine: 5, added: 3, removed: 4 })).toEqual([[3, 5, -1]]);
    expect(one({ diff: "@@ -1,3 +1,4 @@\n a\n-b\n+c\n+d\n e\n@@ -10,2 +11,1 @@\n f\n-g\n" })).toEqual([
      [2, 3, 1],
      [12, 11, -1],
    ]);
  });

  it("understands no line where a wrong type or order stands", () => {
    expect(one({ startLine: "3", endLine: 5 })).toEqual([[null, null, null]]);
    expect(one({ startLine: 5, endLine: 3 })).toEqual([[null, null, null]]);
    expect(one({ startLine: 0, endLine: 3 })).toEqual([[null, null, null]]);
    expect(readLineEdits([null, 3, { path: 4 }, { path: "" }])).toEqual([]);
    expect(readLineEdits({ path: "a" })).toEqual([]);
  });

  it("numbers what a diff changes as the file stands after it", () => {
    expect(changesOfDiff("--- a\n+++ b\n@@ -0,0 +1,2 @@\n+a\n+b\n")).toEqual([{ startLine: 1, endLine: 2, shift: 2 }]);
    expect(changesOfDiff("@@ -4 +3,0 @@\n-x\n")).toEqual([{ startLine: 4, endLine: 3, shift: -1 }]);
    expect(changesOfDiff("@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n")).toEqual([
      { startLine: 1, endLine: 1, shift: 0 },
    ]);
    expect(changesOfDiff("no hunk")).toEqual([]);
  });
});

describe("windows", () => {
  const at = (text: string) => Date.parse(text);
  const session = (startedAt: string, endedAt = startedAt) => ({ startedAt: at(startedAt), endedAt: at(endedAt) });

  it("takes a date for a day anywhere on earth", () => {
    const day = dayOf("2026-11-20");
    expect(overlaps(session("2026-11-19T10:00:00Z"), day)).toBe(true);
    expect(overlaps(session("2026-11-21T14:00:00Z"), day)).toBe(true);
    expect(overlaps(session("2026-11-19T08:00:00Z", "2026-11-19T09:29:00Z"), day)).toBe(false);
    expect(overlaps(session("2026-11-21T14:06:00Z"), day)).toBe(false);
  });

  it("gives a session 5 minutes before and 30 after", () => {
    const day = dayOf("2026-11-20");
    expect(overlaps(session("2026-11-19T09:30:00Z"), day)).toBe(true);
    expect(overlaps(session("2026-11-19T09:29:59Z"), day)).toBe(false);
    expect(overlaps(session("2026-11-21T14:05:00Z"), day)).toBe(true);
    expect(overlaps(session("2026-11-21T14:05:01Z"), day)).toBe(false);
  });

  it("reaches 30 days back, and no session without a time", () => {
    const reach = reachOf("2026-11-30");
    expect(overlaps(session("2026-10-31T00:00:00Z"), reach)).toBe(true);
    expect(overlaps(session("2026-10-30T09:00:00Z"), reach)).toBe(false);
    expect(overlaps({ startedAt: null, endedAt: null }, reach)).toBe(false);
  });

  it("knows the dates of all entries that a session may have caused", () => {
    const window = session("2026-11-10T12:00:00Z", "2026-11-12T01:00:00Z");
    const dates = datesFor(window);
    for (let day = -10; day < 60; day++) {
      const date = new Date(at("2026-11-10T00:00:00Z") + day * 86_400_000).toISOString().slice(0, 10);
      if (overlaps(window, reachOf(date))) expect(dates && date >= dates.from && date <= dates.to, date).toBe(true);
    }
  });
});

describe("promptAt", () => {
  const prompts = [
    { at: 10, text: "a" },
    { at: 30, text: "c" },
    { at: 20, text: "b" },
    { at: null, text: "d" },
  ];
  it("gives the last prompt at or before the instant", () => {
    expect(promptAt(prompts, 25)?.text).toBe("b");
    expect(promptAt(prompts, 30)?.text).toBe("c");
    expect(promptAt(prompts, 5)).toBeUndefined();
    expect(promptAt(prompts, null)?.text).toBe("d");
    expect(promptAt([{ at: null, text: "x" }], 5)?.text).toBe("x");
    expect(promptAt([], 5)).toBeUndefined();
  });
});

describe("bodyFrom", () => {
  it("ends an entry before the next heading of its level or above", () => {
    const lines = ["# E", "## 2026-01-01 a", "x", "### y", "z", "## 2026-01-02 b", "w"];
    expect(bodyFrom(lines, 2)).toBe("## 2026-01-01 a\nx\n### y\nz");
    expect(bodyFrom(lines, 6)).toBe("## 2026-01-02 b\nw");
  });

  it("does not look at what stands before it, which may be ten thousand entries", () => {
    const lines = ["# E", "## 2026-01-01 a", "x", "## 2026-01-02 b", "w"];
    Object.defineProperty(lines, 0, { get: () => expect.fail("the first line was looked at") });
    expect(bodyFrom(lines, 4)).toBe("## 2026-01-02 b\nw");
  });
});
