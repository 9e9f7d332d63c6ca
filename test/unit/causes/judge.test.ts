import { describe, expect, it } from "vitest";
import { type Case, judge, type NamedCommit } from "../../../src/insight/causes/judge.ts";
import type { Role } from "../../../src/insight/causes/roles.ts";

const commit = (role: Role, ...sessions: number[]): NamedCommit => ({
  named: "abc1234",
  role,
  makers: sessions.map((sessionId) => ({ sessionId, sha: "abc1234ffff", at: null })),
});
const touches = (...all: (readonly [number, string])[]) =>
  new Map(all.map(([id, files]) => [id, new Set(files.split(" "))]));
const of = (known: Partial<Case>): Case => ({
  commits: [],
  files: 0,
  touches: new Map(),
  onDay: () => [],
  rejected: new Set(),
  endOf: (id) => id,
  ...known,
});
const found = (known: Partial<Case>) => judge(of(known)).map(({ sessionId, band }) => [sessionId, band]);

describe("judge", () => {
  it("is certain of the one session that made the commit that the entry names", () => {
    expect(found({ commits: [commit("unmarked", 1)], files: 1, touches: touches([2, "a"]) })).toEqual([[1, "strong"]]);
    expect(found({ commits: [commit("cause", 1), commit("fix", 2)] })).toEqual([[1, "strong"]]);
  });

  it("prefers what the text calls the cause to commits of which it says nothing", () => {
    expect(found({ commits: [commit("unmarked", 1), commit("cause", 2)] })).toEqual([[2, "strong"]]);
  });

  it("names every session whose commits the text calls causes", () => {
    expect(found({ commits: [commit("cause", 1), commit("cause", 2)] })).toEqual([
      [1, "strong"],
      [2, "strong"],
    ]);
  });

  it("is uncertain when several sessions made the commit, unless the files single one out", () => {
    const commits = [commit("unmarked", 1, 2)];
    expect(found({ commits })).toEqual([
      [2, "weak"],
      [1, "weak"],
    ]);
    expect(found({ commits, files: 1, touches: touches([1, "a"], [3, "a"]) })).toEqual([[1, "probable"]]);
  });

  it("is uncertain when the text names commits of several and does not say which broke it", () => {
    expect(found({ commits: [commit("unmarked", 1), commit("unmarked", 2)] })).toEqual([
      [2, "weak"],
      [1, "weak"],
    ]);
    expect(found({ commits: [commit("unmarked", 1), commit("unmarked")] })).toEqual([[1, "weak"]]);
  });

  it("never calls the session that made the fix the cause for that alone", () => {
    expect(found({ commits: [commit("fix", 1)] })).toEqual([]);
    expect(found({ commits: [commit("fix", 1)], files: 1, touches: touches([1, "a"]) })).toEqual([[1, "weak"]]);
    expect(found({ commits: [commit("fix", 1)], files: 1, touches: touches([1, "a"], [2, "a"]) })).toEqual([
      [2, "probable"],
    ]);
    expect(found({ commits: [commit("unclear", 1)] })).toEqual([[1, "weak"]]);
  });

  it("finds the one session that touched the named files", () => {
    expect(found({ files: 1, touches: touches([1, "a"]) })).toEqual([[1, "probable"]]);
    expect(found({ files: 2, touches: touches([1, "a b"]) })).toEqual([[1, "probable"]]);
    expect(found({ files: 2, touches: touches([1, "a"]) })).toEqual([[1, "weak"]]);
  });

  it("finds the session that touched them all when others touched a third of them at most", () => {
    expect(found({ files: 3, touches: touches([1, "a b c"], [2, "a"]) })).toEqual([[1, "probable"]]);
    expect(found({ files: 3, touches: touches([1, "a b c"], [2, "a b"]) })).toEqual([
      [1, "weak"],
      [2, "weak"],
    ]);
    expect(found({ files: 1, touches: touches([1, "a"], [2, "a"]) })).toEqual([
      [2, "weak"],
      [1, "weak"],
    ]);
  });

  it("trusts no file when the text blames a commit that no session made", () => {
    expect(found({ commits: [commit("cause")], files: 1, touches: touches([1, "a"]) })).toEqual([[1, "weak"]]);
  });

  it("falls back on the date alone, and keeps five candidates", () => {
    expect(found({ onDay: () => [1, 2] })).toEqual([
      [2, "weak"],
      [1, "weak"],
    ]);
    expect(found({ onDay: () => [1, 2, 3, 4, 5, 6, 7] }).map(([id]) => id)).toEqual([7, 6, 5, 4, 3]);
    expect(found({})).toEqual([]);
  });

  it("leaves out a session that somebody ruled out, and judges again without it", () => {
    const known = { files: 1, touches: touches([1, "a"], [2, "a"]), onDay: () => [1, 2], rejected: new Set([2]) };
    expect(found(known)).toEqual([[1, "probable"]]);
    expect(found({ commits: [commit("unmarked", 2)], rejected: new Set([2]) })).toEqual([]);
  });
});
