import { expect, it } from "vitest";
import { parseEntries } from "../../../src/formats/errors/parse.ts";

const ruleOf = (body: string) => parseEntries(`## 2026-11-20 A\n\nIt broke.\n\n${body}\n\n## 2026-11-19 B\n`)[0]?.rule;

it.each([
  ["**Prevention rule:** Set Path on every cookie."],
  ["**Prevention rule**: Set Path on every cookie."],
  ["**Prevention rule** Set Path on every cookie."],
  ["**Prevention rule** – Set Path on every cookie."],
  ["**Prevention rule —** Set Path on every cookie."],
  ["**Prevention Rule:** Set Path on every cookie."],
  ["**PREVENTION RULE:** Set Path on every cookie."],
  ["**Prevention rules:** Set Path on every cookie."],
  ["**Prevention-rule:** Set Path on every cookie."],
  ["**Prevention rule (hard):** Set Path on every cookie."],
  ["**Prevention rule #1:** Set Path on every cookie."],
  ["**Prevention rule.** Set Path on every cookie."],
  ["__Prevention rule:__ Set Path on every cookie."],
  ["__Prevention rule__: Set Path on every cookie."],
  ["***Prevention rule:*** Set Path on every cookie."],
  ["<strong>Prevention rule:</strong> Set Path on every cookie."],
  ["**Prevention rule: Set Path on every cookie.**"],
  ["🛡️ **Prevention rule:** Set Path on every cookie."],
  ["**🛡️ Prevention rule:** Set Path on every cookie."],
  ["- **Prevention rule:** Set Path on every cookie."],
  ["1. **Prevention rule:** Set Path on every cookie."],
  ["- [ ] **Prevention rule:** Set Path on every cookie."],
  ["- Fix\n  - **Prevention rule:** Set Path\n    on every cookie."],
  ["> **Prevention rule:** Set Path on every cookie."],
  ["> **Prevention rule:** Set Path\n> on every cookie."],
  ["**Prevention rule:** Set Path\non every cookie."],
  ["**Prevention rule:**\nSet Path on every cookie."],
  ["**Prevention rule**\n\nSet Path on every cookie."],
  ["**Prevention rule:**\n\n- Set Path on every cookie.\n- Test it."],
  ["### Prevention rule\n\nSet Path on every cookie."],
  ["### Prevention rule: Set Path on every cookie."],
  ["#### 🛡️ Prevention Rule\n\n> Set Path on every cookie."],
  ["### **Prevention rule:**\n\nSet Path\non every cookie."],
  ["### Prevention rule\n\n**Prevention rule:** Set Path on every cookie."],
  ["| **Prevention rule** | Set Path on every cookie. |"],
  ["**Root cause:** x\n**Prevention rule:** Set Path on every cookie.\n**Status:** open"],
  ["**Prevention rule:** Set Path on every cookie.\nStatus: open"],
  ["**Prevention rule:** Set Path on every cookie.\n- a list begins"],
  ["**Prevention rule:** Set Path on every cookie.\n\nMore text."],
  ["**Prevention rule:** Set Path on every cookie.\n```\ncode\n```"],
  ["**Prevention rule:** Set Path on every cookie.\n### Status"],
  ["**Prevention rule:** Set Path on every cookie.\n\n**Prevention rule:** Another."],
  ["**Prevention rule:** Set Path on every cookie.\n---"],
])("reads the rule of %j", (body) => {
  expect(ruleOf(body)).toBe("Set Path on every cookie.");
});

it("keeps emphasis and code inside the rule as written", () => {
  expect(ruleOf("**Prevention rule:** **Never** call `Path()` – *test* it.")).toBe(
    "**Never** call `Path()` – *test* it.",
  );
});

it.each([
  ["Prevention rule: not bold"],
  ["*Prevention rule:* not bold"],
  ["**Prevention:** not the words"],
  ["**Prevention ruler:** not the words"],
  ["**The prevention rule:** does not begin with the words"],
  ["See the **Prevention rule** above"],
  ["## Prevention rule\n\nis no part of the entry"],
  ["```\n**Prevention rule:** code\n```"],
  ["<!-- **Prevention rule:** comment -->"],
  ["**Prevention rule:**"],
  ["**Prevention rule:**\n\n### Status\n\nfixed"],
  ["**Prevention rule:**\n**Status:** fixed"],
  ["**Prevention rule:**\n\n**Status:** fixed"],
])("finds no rule in %j", (body) => {
  expect(ruleOf(body)).toBeNull();
});

it("bounds the rule that is kept, not the one that is compared", () => {
  const long = "x ".repeat(5_000);
  const [a, b] = parseEntries(
    `## 2026-11-20 A\n\n**Prevention rule:** ${long}a\n\n## 2026-11-20 B\n\n**Prevention rule:** ${long}b\n`,
  );
  expect(a?.rule).toHaveLength(4_000);
  expect(a?.fingerprint.equals(b?.fingerprint as Buffer)).toBe(false);
});
