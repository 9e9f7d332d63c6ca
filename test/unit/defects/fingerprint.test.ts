import { createHash } from "node:crypto";
import fc from "fast-check";
import { expect, it } from "vitest";
import { parseEntries } from "../../../src/formats/errors/parse.ts";
import { onWire } from "../../../src/insight/defects/defects.ts";

const digest = (text: string) => createHash("sha256").update(text).digest("hex");
const hexOf = (markdown: string) => parseEntries(markdown).map(({ fingerprint }) => fingerprint.toString("hex"));
const withRule = (rule: string, title = "Any title") => `## 2026-11-20 ${title}\n\n**Prevention rule:** ${rule}\n`;

it("hashes the rule in lower case, without punctuation and symbols, its white space folded", () => {
  expect(hexOf(withRule("Set `Path`  on\nevery cookie – don't guess (=> log it)!"))).toEqual([
    digest("set path on every cookie dont guess log it"),
  ]);
});

it("hashes the title where there is no rule or nothing is left of it, without date, mark and markup", () => {
  const expected = digest("login loop");
  expect(hexOf("## ⚠️ [2026-11-20 14:05] – **Login** loop!\n")).toEqual([expected]);
  expect(hexOf(withRule("—", "Login loop"))).toEqual([expected]);
  expect(hexOf(withRule("⚠️ …", "Login loop"))).toEqual([expected]);
});

it("never puts two entries without words into one class", () => {
  const prints = hexOf("## 2026-11-20\n## 2026-11-20\n## 2026-11-19 –\n## 2026-11-19 !!\n");
  expect(new Set(prints).size).toBe(4);
});

it("treats the same letters typed in two ways, and invisible characters, as equal", () => {
  const composed = hexOf(withRule("Caf\u00e9 first"));
  expect(hexOf(withRule("Cafe\u0301 first"))).toEqual(composed);
  expect(hexOf(withRule("Caf\u00e9\u00ad \u200bfirst ⚠️ 👩‍💻"))).toEqual(composed);
  expect(hexOf(withRule("Cafe first"))).not.toEqual(composed);
});

it("sends the first eight digits", () => {
  const [entry] = parseEntries(withRule("Set Path"));
  expect(onWire(entry?.fingerprint as Buffer)).toBe(digest("set path").slice(0, 8));
});

const word = fc.constantFrom("set", "the", "path", "cookie", "never", "retry", "été", "лог", "日志", "2", "x1");
const words = fc.array(word, { minLength: 1, maxLength: 12 });
const between = fc.constantFrom(
  " ",
  "  ",
  "\n",
  " – ",
  ", ",
  " (",
  ") ",
  "! ",
  " **",
  "** ",
  " `",
  " \u00a0",
  " | ",
  " 🔥 ",
);
const spelled = (text: readonly string[], gaps: readonly string[], upper: readonly boolean[]) =>
  text
    .map((one, i) => (i === 0 ? "" : gaps[i % gaps.length]) + (upper[i % upper.length] ? one.toUpperCase() : one))
    .join("");

it("ignores case, punctuation, spacing and wrapping", () => {
  fc.assert(
    fc.property(
      words,
      fc.array(between, { minLength: 1, maxLength: 12 }),
      fc.array(fc.boolean(), { minLength: 1, maxLength: 12 }),
      (text, gaps, upper) => {
        expect(hexOf(withRule(spelled(text, gaps, upper)))).toEqual([digest(text.join(" "))]);
      },
    ),
  );
});

it("differs when one word changes", () => {
  fc.assert(
    fc.property(words, fc.nat(), word, (text, place, other) => {
      const at = place % text.length;
      fc.pre(text[at] !== other);
      expect(hexOf(withRule(text.with(at, other).join(" ")))).not.toEqual(hexOf(withRule(text.join(" "))));
    }),
  );
});

it("does not depend on what else the file holds or in which order", () => {
  fc.assert(
    fc.property(fc.uniqueArray(words, { minLength: 2, maxLength: 8, selector: (one) => one.join(" ") }), (rules) => {
      const sections = rules.map((rule, i) => withRule(rule.join(" "), `Title ${i}`));
      expect(hexOf(sections.join("\n"))).toEqual(rules.map((rule) => digest(rule.join(" "))));
      expect(hexOf(sections.toReversed().join("\n# Archive\n\ntext\n\n")).reverse()).toEqual(
        hexOf(sections.join("\n")),
      );
    }),
  );
});
