import { expect, it } from "vitest";
import { countEntries } from "../../../src/insight/defects/defects.ts";
import { startWithDevice } from "../../support/instance.ts";
import { publish as publishFiles } from "../../support/reads.ts";

it("counts the errors files of all of a team's current brains, of nobody else's and of no earlier version", async () => {
  const { t, device } = await startWithDevice();
  const other = await t.device();
  const publish = (token: string, repoKey: string, version: number, files: Record<string, string>) =>
    publishFiles(t, { token }, files, { repoKey, version });
  const count = async () => {
    await t.instance.settle();
    const { repositories, entries, open } = await countEntries(t.instance.core, device.team.id);
    return { repositories, entries, open };
  };
  expect(await count()).toEqual({ repositories: 0, entries: 0, open: 0 });
  await publish(device.token, "a", 1, { ".claude/brain/errors.md": "## ⏳ 2026-11-19 Old\n## ⏳ 2026-11-18 Older\n" });
  await publish(device.token, "a", 2, {
    ".claude/brain/errors.md": "## ⏳ 2026-11-20 New\n## 2026-11-18 Older\n",
    ".claude/brain/decisions.md": "## ⏳ 2026-11-20 No error\n",
    ".claude/brain/security.md": "## ⏳ 2026-11-20 No error\n",
  });
  await publish(device.token, "b", 1, { "ERRORS.md": "## 2026-11-20 X\nStatus: pending\n" });
  await publish(other.token, "a", 1, { "errors.md": "## ⏳ 2026-11-20 Another team's\n" });
  expect(await count()).toEqual({ repositories: 2, entries: 3, open: 2 });
  await publish(device.token, "b", 2, { "ERRORS.md": "## 2026-11-20 X\nStatus: resolved\n" });
  expect(await count()).toEqual({ repositories: 2, entries: 3, open: 1 });
});
