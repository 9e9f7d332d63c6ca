import { expect, it } from "vitest";
import { correlateRepository } from "../../../src/insight/causes/correlate.ts";
import { linksProjection } from "../../../src/insight/causes/follow-deliveries.ts";
import { catchUp } from "../../../src/platform/projections/projections.ts";
import { startWithDevice } from "../../support/instance.ts";
import { turnsOfOthers } from "../../support/others.ts";
import { processorMs } from "../../support/time.ts";
import { at, follow, publish, session, trace } from "./support.ts";

/** Agents' own exports name no repository, so all sessions of a fleet belong to the same one. */
async function exported(count: number) {
  const { t, token, team } = await startWithDevice();
  const session = { id: "s-0", outcome: "ok", startedAt: "2026-11-20T08:00:00Z", endedAt: "2026-11-20T08:01:00Z" };
  await t.post("/api/agent-traces/ingest", { token, json: { sessions: [{ ...session, spans: [] }] } });
  await catchUp(t.instance.core, linksProjection);
  const { db } = t.instance.core.store;
  const columns = (table: string, own: readonly string[]) =>
    db
      .prepare<[string], string>("SELECT name FROM pragma_table_info(?)")
      .pluck()
      .all(table)
      .filter((name) => !own.includes(name))
      .join(", ");
  const copy = (table: string, own: readonly string[], values: string) => {
    const others = columns(table, own);
    db.prepare(
      `WITH RECURSIVE n (i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
       INSERT INTO ${table} (${own}, ${others}) SELECT ${values}, ${others} FROM n, ${table} WHERE external_id = 's-0'`,
    ).run(count);
  };
  copy("trace_sessions", ["id", "external_id"], "i, 's-' || i");
  copy("session_figures", ["id", "external_id", "session_id"], "i + 1000000, 's-' || i, i");
  return { core: t.instance.core, teamId: team.id };
}

it("correlating one session costs the same however many sessions there are", async () => {
  const among = async (count: number) => {
    const { core, teamId } = await exported(count);
    return processorMs(async () => {
      for (let times = 0; times < 300; times++) await correlateRepository(core, teamId, "");
    });
  };
  const amongFew = await among(60);
  // Reading all sessions each time took two seconds.
  expect(await among(60_000)).toBeLessThan(4 * amongFew);
});

it("correlating many sessions that came at once lets others in", async () => {
  const { core } = await exported(200);
  const { turns } = await turnsOfOthers(core, async () => linksProjection.next(core, 0, false));
  expect(turns).toBeGreaterThan(100);
});

it("correlating one session costs the same however many other entries there are", async () => {
  const amongFew = await amongOld(20);
  // Reading all entries each time took three seconds.
  expect(await amongOld(2_000)).toBeLessThan(4 * amongFew);
});

/** @returns processor time for correlating thirty sessions in turn */
async function amongOld(count: number): Promise<number> {
  const { t, core, device } = await startWithDevice();
  // Each of them may have been caused by any session of its day.
  const old = Array.from({ length: count }, (_, i) => `## 2026-01-05 Problem ${i}`);
  const day = Array.from({ length: 10 }, (_, i) => ({
    ...session(`old-${i}`, 5),
    ...{ startedAt: "2026-01-05T08:00:00Z", endedAt: "2026-01-05T09:00:00Z" },
  }));
  await trace(t, device, day);
  await publish(t, device, [`## ${at(20).slice(0, 10)} Login fails\n\nIn src/login.ts.`, ...old]);
  await follow(t);
  const taken = await processorMs(async () => {
    for (let i = 0; i < 30; i++) {
      await trace(t, device, [session(`s-${i}`, 20, { files: ["src/login.ts"] })]);
      await catchUp(core, linksProjection);
    }
  });
  expect(t.rows("SELECT count(*) AS n FROM causal_links WHERE date = '2026-01-05'")).toEqual([{ n: 5 * count }]);
  expect(t.rows("SELECT count(*) AS n FROM causal_links WHERE date = '2026-11-20'")).not.toEqual([{ n: 0 }]);
  return taken;
}
