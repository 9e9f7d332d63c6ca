import { expect, it } from "vitest";
import { listLinks } from "../../../src/insight/causes/causes.ts";
import { startInstance } from "../../support/instance.ts";
import { at, follow, publish, SHA, session, trace } from "./support.ts";

it("lists links of many days from page to page, and lets others in between the days", async () => {
  const t = await startInstance();
  const { core } = t.instance;
  const device = await t.device();
  const team = device.team.id;
  await trace(t, device, [session("s-1", 1, { commits: [{ sha: SHA, at: at(1, 12, 40) }] })]);
  const days = Array.from({ length: 9 }, (_, i) => `2026-11-1${i}`).toReversed();
  await publish(
    t,
    device,
    days.map((day) => `## ${day} Cart\n\nBroken since ${SHA.slice(0, 8)}.`),
  );
  await follow(t);
  let turns = 0;
  let isDone = false;
  const count = () => {
    turns++;
    if (!isDone) setImmediate(count);
  };
  setImmediate(count);
  let now = 0;
  // Each look at the clock finds a slice of time used up.
  const clock = { now: core.clock.now, monotonic: () => (now += 10) };
  const dates: string[] = [];
  for (let after: string | undefined, isFirst = true; isFirst || after !== undefined; isFirst = false) {
    const { total, links, next } = await listLinks({ ...core, clock }, team, { limit: 4, after });
    expect(total).toBe(9);
    dates.push(...links.map(({ date }) => date));
    after = next;
  }
  isDone = true;
  expect(dates).toEqual(days);
  // Three pages, each of which looks at every day.
  expect(turns).toBeGreaterThan(20);
});
