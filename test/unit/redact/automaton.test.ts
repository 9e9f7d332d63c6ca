import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Automaton } from "../../../src/redact/automaton.ts";
import { unitsOf } from "../../../src/redact/units.ts";

/** Patterns with what each kind of node has: classes, alternatives that begin alike, bounded repeats, both cases. */
const PATTERNS = [
  /ab|abc|b{2,3}/,
  /(?:ab?){1,3}[.:]/,
  /a[b-c]{0,2}(?:ca|\.\.)?b/i,
  /(?:aa|a[^b]c)b?/i,
  /x{4}|\*{2}|c[.:]a/,
];
const texts = fc.string({ unit: fc.constantFrom(..."aAbBcCx.:*\u4e2d"), maxLength: 24 });

describe("an automaton", () => {
  test.each(PATTERNS)("agrees with the expression %s wherever a match begins", (pattern) => {
    const { source, flags } = pattern;
    const all = ["start", "anywhere", "end"] as const;
    const [start, anywhere, end] = all.map((mode) => new Automaton(pattern, mode)) as [Automaton, Automaton, Automaton];
    fc.assert(
      fc.property(texts, texts, texts, (before, text, after) => {
        const whole = before + text + after;
        const units = unitsOf(whole);
        const [from, to] = [before.length, before.length + text.length];
        expect({
          ends: end.ends(text),
          start: start.test(units, from, to),
          anywhere: anywhere.test(units, from, to),
          end: end.test(units, from, to),
          spans: start.spans(units, from, to),
          behindA: anywhere.test(units, from, to, (read, at) => read[at] === 97),
        }).toEqual({
          ends: new RegExp(`(?:${source})$`, flags).test(text),
          start: new RegExp(`^(?:${source})`, flags).test(text),
          anywhere: pattern.test(text),
          end: new RegExp(`(?:${source})$`, flags).test(text),
          spans: new RegExp(`^(?:${source})$`, flags).test(text),
          behindA: Array.from(
            text,
            (sign, at) => sign === "a" && new RegExp(`(?:${source})$`, flags).test(text.slice(0, at + 1)),
          ).includes(true),
        });
      }),
      { numRuns: 500 },
    );
  });

  test.each(PATTERNS)("tells where the longest match of %s ends", (pattern) => {
    const automaton = new Automaton(pattern);
    const whole = new RegExp(`^(?:${pattern.source})$`, pattern.flags);
    fc.assert(
      fc.property(texts, texts, (before, text) => {
        const ends = Array.from({ length: text.length }, (_, i) => text.length - i);
        const longest = ends.find((end) => whole.test(text.slice(0, end)));
        expect(automaton.endOf(unitsOf(before + text), before.length, before.length + text.length)).toBe(
          longest === undefined ? -1 : before.length + longest,
        );
      }),
      { numRuns: 500 },
    );
  });
});
