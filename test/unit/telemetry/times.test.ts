import { expect, it } from "vitest";
import { type EntryFilter, exportEntries, listEntries } from "../../../src/record/telemetry/telemetry.ts";
import { browseDeliveries } from "../../../src/share/read-api/browse-deliveries.ts";
import { startInstance, startWithDevice, type TestDevice, type TestInstance } from "../../support/instance.ts";

const setClock = (t: TestInstance, day: string) => t.clock.jump(Date.parse(`${day}T10:00:00Z`) - t.clock.now());
const span = (from: string, to: string) => ({ from: Date.parse(from), to: Date.parse(to) });

async function send(t: TestInstance, { token }: TestDevice, seq: number) {
  const answer = await t.post("/api/telemetry/ingest", { token, json: { entries: [{ seq, payload: {} }] } });
  expect(answer.status).toBe(200);
}

/** A team's entries in a range of time: as pages list them, as they are exported, and by their deliveries. */
async function found(t: TestInstance, teamId: string, filter: Pick<EntryFilter, "from" | "to">): Promise<number[]> {
  const { core } = t.instance;
  const down: number[] = [];
  let deliveries = 0;
  for (let cursor: string | undefined = ""; cursor !== undefined; ) {
    const page = await listEntries(core, teamId, { ...filter, limit: 3, cursor });
    down.push(...page.rows.map(({ seq }) => seq));
    cursor = page.older;
  }
  for (let cursor: string | undefined = ""; cursor !== undefined; ) {
    const page = await browseDeliveries(core, teamId, { ...filter, limit: 3, cursor });
    deliveries += page.rows.length;
    cursor = page.older;
  }
  const up: number[] = [];
  for await (const line of exportEntries(core, teamId, filter)) up.push(JSON.parse(line).seq);
  expect([down.toReversed(), deliveries]).toEqual([up, up.length]);
  return up;
}

it("finds what came in a range of time although the clock was ahead or behind in between", async () => {
  const { t, device } = await startWithDevice({ settings: { limitTelemetry: "off" } });
  const days = ["2026-11-26", "2026-12-27", "2026-11-27", "2026-11-28", "2020-01-01", "2026-11-28", "2026-11-29"];
  for (const [i, day] of days.entries()) {
    setClock(t, day);
    for (let k = 1; k <= 4; k++) await send(t, device, 4 * i + k);
  }
  const of = (from: string, to: string) => found(t, device.team.id, span(from, to));
  expect(await of("2026-11-26", "2026-11-27")).toEqual([1, 2, 3, 4]);
  expect(await of("2026-11-27", "2026-11-28")).toEqual([9, 10, 11, 12]);
  expect(await of("2026-11-28", "2026-11-29")).toEqual([13, 14, 15, 16, 21, 22, 23, 24]);
  expect(await of("2026-11-26", "2026-11-30")).toHaveLength(20);
  expect(await of("2019-01-01", "2027-01-01")).toHaveLength(28);
});

it("finds what came in a range of time of an imported team, whose deliveries are older than others before them", async () => {
  const t = await startInstance({ settings: { limitTelemetry: "off" } });
  const [here, moved] = [await t.device(), await t.device()];
  setClock(t, "2027-01-10");
  for (let seq = 1; seq <= 40; seq++) await send(t, here, seq);
  for (let month = 1; month <= 6; month++) {
    setClock(t, `2026-0${month}-10`);
    await send(t, moved, month);
  }
  expect(await found(t, moved.team.id, span("2026-02-01", "2026-04-01"))).toEqual([2, 3]);
  expect(await found(t, here.team.id, span("2027-01-10", "2027-01-11"))).toHaveLength(40);
});
