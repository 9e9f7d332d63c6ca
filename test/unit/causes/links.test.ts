import { expect, it } from "vitest";
import { listLinks } from "../../../src/insight/causes/causes.ts";
import { startWithDevice } from "../../support/instance.ts";
import { turnsOfOthers } from "../../support/others.ts";
import { at, follow, publish, SHA, session, trace } from "./support.ts";

it("lists links of many days from page to page, and lets others in between the days", async () => {
  const { t, core, device } = await startWithDevice();
  const team = device.team.id;
  await trace(t, device, [session("s-1", 1, { commits: [{ sha: SHA, at: at(1, 12, 40) }] })]);
  const days = Array.from({ length: 9 }, (_, i) => `2026-11-1${i}`).toReversed();
  await publish(
    t,
    device,
    days.map((day) => `## ${day} Cart\n\nBroken since ${SHA.slice(0, 8)}.`),
  );
  await follow(t);
  const { turns, done: dates } = await turnsOfOthers(core, async () => {
    const dates: string[] = [];
    for (let after: string | undefined, isFirst = true; isFirst || after !== undefined; isFirst = false) {
      const { total, links, next } = await listLinks(core, team, { limit: 4, after });
      expect(total).toBe(9);
      dates.push(...links.map(({ date }) => date));
      after = next;
    }
    return dates;
  });
  expect(dates).toEqual(days);
  // Three pages, each of which looks at every day.
  expect(turns).toBeGreaterThan(20);
});
