import { expect, it } from "vitest";
import { findSessions, type SessionItem, SORTS } from "../../../src/insight/sessions/sessions.ts";
import { startWithDevice } from "../../support/instance.ts";
import { turnsOfOthers } from "../../support/others.ts";

const MINUTE = 60_000;
const COUNT = 30_000;

/** One session a minute, of which every fiftieth is on a branch of its own, and figures in no order. */
async function filled() {
  const { t, deviceId, team } = await startWithDevice();
  const { db } = t.instance.core.store;
  db.prepare(
    `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${COUNT})
     INSERT INTO session_figures (id, team_id, device_id, external_id, session_id, repo_key, branch, agent, model, outcome, result, title,
       started_at, duration, commits, failed_steps, caused, tokens, unpriced, cost_nano, cost_rest)
     SELECT i, ?, ?, 's-' || i, i, 'shop', iif(i % 50, 'main', 'topic'), 'a', 'm', '', 'succeeded', 't', i * ${MINUTE}, i * 7919 % 10007, 0,
       i * 104729 % 5, 0, i * 7919 % 8009, 0, i * 104729 % 9001, 0 FROM n`,
  ).run(team.id, deviceId);
  return { core: t.instance.core, teamId: team.id };
}

it("finds the few that a filter leaves of many in each order, page by page, while others get their turn", async () => {
  const { core, teamId } = await filled();
  for (const sort of SORTS)
    for (const ascending of [true, false]) {
      const found: SessionItem[] = [];
      for (let cursor: string | undefined, isFirst = true; isFirst || cursor; isFirst = false) {
        const query = { branch: "topic", sort, ascending, cursor, limit: 200 };
        const { turns, done } = await turnsOfOthers(core, () => findSessions(core, teamId, query));
        // Five thousand at a time are read in one go.
        if (sort !== "started" && isFirst) expect(turns).toBeGreaterThan(6);
        found.push(...done.rows);
        cursor = done.older;
      }
      const place = ({ id, startedAt, duration, usd, failedSteps, tokens }: SessionItem) => {
        const by = { started: startedAt, duration, cost: usd, errors: failedSteps, tokens }[sort] as number;
        return [by, id] as const;
      };
      const wanted = found.toSorted((a, b) => {
        const [[x, i], [y, k]] = [place(a), place(b)];
        return (x - y || i - k) * (ascending ? 1 : -1);
      });
      expect(new Set(found.map(({ id }) => id)).size).toBe(COUNT / 50);
      expect(found.map(({ id }) => id)).toEqual(wanted.map(({ id }) => id));
    }
});
