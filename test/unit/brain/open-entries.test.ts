import { expect, it } from "vitest";
import { countEntries, countOpenEntries } from "../../../src/brain/open-entries.ts";
import { startInstance } from "../../support/instance.ts";

it.each([
  ["## 2026-11-20 Login loop", 1, 0],
  ["## [2026-11-20] Login loop", 1, 0],
  ["## ⏳ 2026-11-20 – Login loop", 1, 1],
  ["## ⌛ [2026-11-20]: Login loop", 1, 1],
  ["## 🚧 2026-11-20 Login loop", 1, 1],
  ["## ⚠️ 2026-11-20 Login loop", 1, 1],
  ["## ❗2026-11-20 Login loop", 1, 1],
  ["## ✅ 2026-11-20 Login loop", 1, 0],
  ["# 2026-11-20 Login loop\nStatus: open", 0, 0],
  ["### 2026-11-20 Login loop\nStatus: open", 0, 0],
  ["## Login loop of 2026-11-20\nStatus: open", 0, 0],
  ["## 2026-13-40 Login loop\nStatus: open", 0, 0],
  ["## 2026-11-201 Login loop\nStatus: open", 0, 0],
  ["## 2026-11-20 A\nStatus: open", 1, 1],
  ["## 2026-11-20 A\n**Status:** Unresolved", 1, 1],
  ["## 2026-11-20 A\n- **Status**: in progress", 1, 1],
  ["## 2026-11-20 A\n* *status*: In-Progress, see below", 1, 1],
  ["## 2026-11-20 A\n**Status:** `pending`", 1, 1],
  ["## 2026-11-20 A\nStatus: opened too late, resolved", 1, 0],
  ["## 2026-11-20 A\n**Status:** resolved", 1, 0],
  ["## 2026-11-20 A\nThe HTTP status: open", 1, 0],
  ["## 2026-11-20 A\n## 2026-11-19 B\nStatus: open", 2, 1],
  ["```\n## ⏳ 2026-11-20 A\n```", 0, 0],
])("tells of %j how many entries there are and how many are open", (markdown, entries, open) => {
  expect(countEntries(markdown)).toEqual({ entries, open });
});

it("counts hostile text in time that grows with its size", () => {
  const hostile = `## 2026-11-20 A\n${"*_".repeat(50_000)}status${" \t".repeat(50_000)}:${"`".repeat(50_000)}`;
  const before = performance.now();
  expect(countEntries(hostile)).toEqual({ entries: 1, open: 0 });
  expect(performance.now() - before).toBeLessThan(1_000);
});

it("counts the error files of all of a team's current brains, of nobody else's and of no earlier version", async () => {
  const t = await startInstance();
  const device = await t.device();
  const other = await t.device();
  const publish = (token: string, repoKey: string, version: number, files: Record<string, string>) =>
    t.post("/api/brain/ingest", {
      token,
      json: { repoKey, version, files: Object.entries(files).map(([path, content]) => ({ path, content })) },
    });
  await publish(device.token, "a", 1, { ".claude/brain/errors.md": "## ⏳ 2026-11-19 Old\n## ⏳ 2026-11-18 Older\n" });
  await publish(device.token, "a", 2, {
    ".claude/brain/errors.md": "## ⏳ 2026-11-20 New\n## 2026-11-18 Older\n",
    ".claude/brain/decisions.md": "## ⏳ 2026-11-20 No error\n",
  });
  await publish(device.token, "b", 1, { "ERRORS.md": "## 2026-11-20 X\nStatus: pending\n" });
  await publish(other.token, "a", 1, { "errors.md": "## ⏳ 2026-11-20 Another team's\n" });
  const count = () => countOpenEntries(t.instance.core, device.team.id);
  expect(count()).toEqual({ repositories: 2, entries: 3, open: 2 });
  expect(count()).toEqual({ repositories: 2, entries: 3, open: 2 });
  await publish(device.token, "b", 2, { "ERRORS.md": "## 2026-11-20 X\nStatus: resolved\n" });
  expect(count()).toEqual({ repositories: 2, entries: 3, open: 1 });
});
