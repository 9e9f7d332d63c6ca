import { expect, it } from "vitest";
import { freshenSessions, sumRepos } from "../../../src/insight/sessions/sessions.ts";
import { DAY_MS, isoInstant } from "../../../src/kit/clock.ts";
import { startWithDevice } from "../../support/instance.ts";
import { turnsOfOthers } from "../../support/others.ts";

it("sums each repository's sessions of some days, including a future day, and lets others in between the days", async () => {
  const { t, core, token, team } = await startWithDevice();
  const now = t.clock.now();
  const sent = [
    ["a", -40, "success"],
    ["a", -20, "success"],
    ["a", -3, "failure"],
    ["b", -3, "success"],
    ["a", 2, "success"],
  ] as const;
  for (const [i, [repoKey, day, outcome]] of sent.entries()) {
    const session = { id: `s-${i}`, outcome, startedAt: isoInstant(now + day * DAY_MS), spans: [] };
    const reply = await t.post("/api/agent-traces/ingest", { token, json: { repoKey, sessions: [session] } });
    expect(reply.status).toBe(200);
  }
  await freshenSessions(core);
  const { turns, done } = await turnsOfOthers(core, () => sumRepos(core, team.id, now - 29 * DAY_MS));
  expect(done.toSorted((one, other) => (one.repoKey < other.repoKey ? -1 : 1))).toEqual([
    { repoKey: "a", sessions: 3, succeeded: 2, failed: 1, stopped: 0, lastAt: now + 2 * DAY_MS },
    { repoKey: "b", sessions: 1, succeeded: 1, failed: 0, stopped: 0, lastAt: now - 3 * DAY_MS },
  ]);
  expect(turns).toBeGreaterThan(20);
});
