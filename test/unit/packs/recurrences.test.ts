import { expect, it } from "vitest";
import { DAY_MS } from "../../../src/kit/clock.ts";
import { getPack } from "../../../src/share/packs/packs.ts";
import { foundRemoved } from "../../../src/share/packs/recurrences.ts";
import { startInstance, type TestDevice } from "../../support/instance.ts";
import { archiveOf, download, ERRORS, publisher, pushBrain } from "../../support/packs.ts";

const entry = (date: string, rule: string) => `## ${date} Something\n\nIt broke.\n\n**Prevention rule:** ${rule}\n\n`;
const COOKIE = "Set path on every cookie";
const OTHER = "Round once, at the end";

async function start() {
  const t = await startInstance();
  const { device: own } = await publisher(t, "cookie-rules");
  const errors = (device: TestDevice, text: string) => pushBrain(t, device, { ".claude/brain/errors.md": text });
  const install = async (device: TestDevice) => {
    const answer = await download(t, archiveOf("cookie-rules"), { authorization: `Bearer ${device.token}` });
    expect(answer.status).toBe(200);
    await answer.arrayBuffer();
  };
  const removed = async () => {
    await t.instance.settle();
    // As ten minutes later, when it is computed anew.
    Object.assign(foundRemoved(t.instance.core), { byVersion: new Map() });
    return getPack(t.instance.core, "cookie-rules")?.why.find(({ factor }) => factor === "recurrences_removed");
  };
  return { t, own, errors, install, removed };
}

it("counts classes that recurred in another team until it installed the pack, and not once since", async () => {
  const { t, errors, install, removed } = await start();
  const team = await t.device();
  const before =
    entry("2026-11-19", COOKIE) + entry("2026-10-02", COOKIE) + entry("2026-11-01", OTHER) + entry("2026-10-01", OTHER);
  await errors(team, before);
  expect(await removed()).toMatchObject({ value: null, points: 0, says: "Not known yet." });
  await install(team);
  t.clock.advance(27 * DAY_MS);
  expect(await removed()).toMatchObject({ value: null });
  t.clock.advance(DAY_MS);
  expect(await removed()).toMatchObject({
    value: 1,
    points: 3,
    says: "Its rules ended 1 recurring defect of other teams.",
  });
  await errors(team, entry("2026-12-10", COOKIE) + before);
  expect(await removed()).toMatchObject({ value: 0, points: 0 });
});

it("does not count what never came again, what its own team tells, or a pack without rules of entries", async () => {
  const { t, own, errors, install, removed } = await start();
  const team = await t.device();
  await errors(team, entry("2026-11-19", COOKIE));
  await errors(own, ERRORS + entry("2026-10-02", COOKIE));
  await install(own);
  await install(team);
  t.clock.advance(40 * DAY_MS);
  expect(await removed()).toMatchObject({ value: 0 });
  t.instance.core.store.db.prepare("UPDATE pack_versions SET classes = '[]'").run();
  expect(await removed()).toMatchObject({ value: null });
});
