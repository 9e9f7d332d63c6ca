import { describe, expect, it } from "vitest";
import { rolesOf } from "../../../src/insight/causes/roles.ts";

const A = "abc1234";
const B = "def5678";

/** Texts as people write them, with the role that they give to each of the two commits. */
const TEXTS: readonly (readonly [text: string, first: string, second?: string])[] = [
  ["Introduced in abc1234, fixed in def5678.", "cause", "fix"],
  ["abc1234 broke it, def5678 fixed it", "cause", "fix"],
  ["**Fix:** def5678 sets the path. Broken since abc1234.", "cause", "fix"],
  ["**Fix**: reverted abc1234 in def5678", "cause", "fix"],
  ["### Root cause\n\nCommit abc1234 dropped it.\n\n### Fix\n\n- def5678 restores it", "cause", "fix"],
  ["Something in abc1234.\n\nFix: see def5678", "unmarked", "fix"],
  ["Fixed (def5678). The regression came with\nabc1234.", "cause", "fix"],
  ["Reverting `abc1234` helped.", "cause"],
  ["- **Commit:** abc1234\n- **Fix commit:** def5678", "unmarked", "fix"],
  ["| Cause | abc1234 |\n| Fix | def5678 |", "cause", "fix"],
  ["Root cause: abc1234 removed the check; resolved by def5678", "cause", "fix"],
  ["Fix: def5678\n\nPrevention rule: test it. See abc1234", "unmarked", "fix"],
  ["abc1234 (culprit), def5678 (fix)", "cause", "fix"],
  ["[abc1234](https://example.com/commit/abc1234) introduced a loop", "cause"],
  ["Fix a bug introduced in abc1234", "cause"],
  ["The check went in abc1234 and was restored in def5678", "unmarked", "fix"],
  ["Wrong since ABC1234.", "cause"],
];

describe("rolesOf", () => {
  it.each(TEXTS)("reads %j", (text = "", first, second) => {
    const roles = rolesOf(text, [A, B]);
    expect(roles.get(A)).toBe(first);
    if (second !== undefined) expect(roles.get(B)).toBe(second);
  });

  it("takes no side where the words fit a cause and a fix alike", () => {
    expect(rolesOf("Fixes: abc1234", [A]).get(A)).toBe("unclear");
    expect(rolesOf("This fixes abc1234", [A]).get(A)).toBe("unclear");
  });

  it("does not apply one sentence's word to the next one's commit", () => {
    expect(rolesOf("It was fixed at last. See abc1234 for the test.", [A]).get(A)).toBe("unmarked");
  });

  it("lets a cause outweigh a fix where both are said of one commit", () => {
    expect(rolesOf("Fix: patched abc1234.\n\nIntroduced by abc1234.", [A]).get(A)).toBe("cause");
  });

  it("reads hostile text in time that grows with its length alone", () => {
    const cost = (text: string) => {
      const before = process.threadCpuUsage();
      rolesOf(text, [A, B]);
      const { user, system } = process.threadCpuUsage(before);
      return (user + system) / 1000;
    };
    for (const piece of [
      "fix ",
      "**",
      "abc1234 ",
      "- **Fix ",
      "reverted the commit ",
      "| ",
      "( ",
      "a. ",
      "**Fix**: abc1234\n",
    ])
      expect(cost(piece.repeat(Math.ceil(64_000 / piece.length))), piece).toBeLessThan(1_500);
    for (const blank of [" ", "\t", "\u00a0", "> "])
      expect(cost(`${blank.repeat(60_000 / blank.length)}1 abc1234`), JSON.stringify(blank)).toBeLessThan(500);
  });
});
