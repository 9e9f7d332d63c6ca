import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { onWire, parseFile } from "../../../src/insight/defects/defects.ts";

it("reads the documentation's example as the documentation says", () => {
  const page = readFileSync(new URL("../../../docs/defects.md", import.meta.url), "utf8");
  const { entries, skipped } = parseFile(/```markdown\n([\s\S]*?)```\n/.exec(page)?.[1] as string);
  const print = createHash("sha256").update("set path on every cookie").digest("hex").slice(0, 8);
  expect(skipped).toBe(0);
  expect(entries.map(({ fingerprint, ...entry }) => ({ ...entry, fingerprint: onWire(fingerprint) }))).toEqual([
    {
      heading: "⏳ 2026-11-20 – Login loop after the proxy change",
      ...{ ordinal: 0, date: "2026-11-20", title: "Login loop after the proxy change", line: 3, open: true },
      ...{
        rule: "Set Path on every cookie.",
        commits: ["abc1234"],
        files: ["src/http/cookies.ts"],
        fingerprint: print,
      },
    },
    {
      heading: "2026-11-18 – Cart lost on checkout",
      ...{ ordinal: 0, date: "2026-11-18", title: "Cart lost on checkout", line: 11, open: false },
      ...{ rule: "set path on every cookie!", commits: ["def5678"], files: [], fingerprint: print },
    },
  ]);
});
