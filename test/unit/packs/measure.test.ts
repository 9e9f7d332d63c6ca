import { expect, it } from "vitest";
import { DAY_MS } from "../../../src/kit/clock.ts";
import { measuring } from "../../../src/share/packs/measure.ts";
import { listPacks } from "../../../src/share/packs/packs.ts";
import { startInstance } from "../../support/instance.ts";
import { archiveOf, download, publisher, pushBrain } from "../../support/packs.ts";

const PACKS = ["first-rules", "second-rules", "third-rules"];
const entry = (date: string) => `## ${date} It broke\n\nBroke.\n\n**Prevention rule:** Set path on every cookie\n\n`;

it("finds in the background which recurrences rules ended, and no list waits for that", async () => {
  const t = await startInstance();
  const { core } = t.instance;
  for (const name of PACKS) await publisher(t, name);
  const learner = await t.device();
  await pushBrain(t, learner, { ".claude/brain/errors.md": entry("2026-11-19") + entry("2026-10-02") });
  await t.instance.settle();
  for (const name of PACKS) {
    const answer = await download(t, archiveOf(name), { authorization: `Bearer ${learner.token}` });
    expect(answer.status).toBe(200);
    await answer.arrayBuffer();
  }
  t.clock.advance(40 * DAY_MS);
  // With this clock every read takes long.
  let now = core.clock.monotonic();
  core.clock.monotonic = () => (now += 15);
  const removed = () =>
    listPacks(core).entries.map(({ why }) => why.find(({ factor }) => factor === "recurrences_removed")?.value);
  expect(removed().filter((value) => value !== null).length).toBeLessThan(PACKS.length);
  await measuring.run(core);
  expect(removed()).toEqual([1, 1, 1]);
});
