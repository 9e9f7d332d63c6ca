import { describe, expect, test } from "vitest";
import { findSecrets, mightHoldSecret, RULES_VERSION } from "../../../src/redact/redact.ts";
import { RULES } from "../../../src/redact/rules.ts";

/** Where a secret stands in real files: alone, quoted, after an escape, in a terminal colour, in a URL's query. */
const PLACES: readonly [string, string][] = [
  ["", ""],
  ["key: ", "\n"],
  ['const k = "', '";'],
  ['"a\\n', '\\nb"'],
  ["\u001b[32m", "\u001b[0m"],
  ["?x=1%26k=", "&y=2"],
  ["\u2014", "\u2014"],
];

describe("the rule table", () => {
  test("has one row an id, and every id fits a marker", () => {
    expect(new Set(RULES.map((r) => r.id)).size).toBe(RULES.length);
    for (const rule of RULES) expect(rule.id).toMatch(/^[a-z0-9]+(?:-[a-z0-9]+)*$/);
  });

  test("cites a source and an example for every row", () => {
    for (const rule of RULES) {
      expect(rule.source, rule.id).toMatch(/^https:\/\/|^docs\//);
      expect(rule.examples().length, rule.id).toBeGreaterThan(0);
    }
  });

  test("holds no pattern that could backtrack far: sticky, every quantifier bounded, none nested, no look-behind", () => {
    for (const { id, pattern } of RULES) {
      expect(pattern.sticky, id).toBe(true);
      expect(pattern.source, id).not.toMatch(/\(\?<|\\[1-9]/);
      const noClasses = pattern.source.replaceAll(/\[(?:\\.|[^\]\\])*\]/g, "c").replaceAll(/\\./g, "e");
      expect(noClasses, id).not.toMatch(/[*+]|\{\d+,\}/);
      // A repeated group may hold one run, followed by a character that the run cannot hold.
      for (const group of noClasses.matchAll(/\(\?:([^()]*)\)\{/g))
        expect(group[1], id).toMatch(/^[^{}]*\{[^{}]*\}[^{}a-z]*[-.e]?$|^[^{}]*$|^e?\.?[^{}]*\{[^{}]*\}$/);
    }
  });

  test.each(RULES.map((rule) => [rule.id, rule] as const))("%s finds its examples wherever they stand", (id, rule) => {
    for (const example of rule.examples()) {
      for (const [before, after] of PLACES) {
        const text = before + example + after;
        const found = findSecrets(text).filter((f) => f.rule === id);
        // A likely finding around it may have widened it, so the example need not be the whole finding.
        expect(found.map((f) => text.slice(f.start, f.end)).join(" "), JSON.stringify(text)).toContain(example);
        expect(found[0]?.strength).toBe(rule.strength);
        expect(mightHoldSecret(text)).toBe(true);
      }
    }
  });

  test.each(RULES.map((rule) => [rule.id, rule] as const))(
    "%s takes a row of x in its form for a placeholder",
    (id, rule) => {
      for (const example of rule.examples()) {
        const anchor = example.slice(0, Math.max(4, example.search(/[-_.:/=][^-_.:/=]*$/) + 1));
        const filler = `${anchor}${"x".repeat(Math.max(0, example.length - anchor.length))}`;
        if (filler.length - anchor.length < 16) continue;
        expect(findSecrets(filler).filter((f) => f.rule === id && f.strength === "certain")).toEqual([]);
      }
    },
  );

  test.each(RULES.filter((r) => !r.glued).map((rule) => [rule.id, rule] as const))(
    "%s leaves its form alone inside a longer word",
    (id, rule) => {
      for (const example of rule.examples())
        expect(findSecrets(`Zq${example}`).filter((f) => f.rule === id && f.start === 2)).toEqual([]);
    },
  );

  test("derives a version that is the same for the same table", () => {
    expect(RULES_VERSION).toMatch(/^[0-9a-f]{12}$/);
  });
});
