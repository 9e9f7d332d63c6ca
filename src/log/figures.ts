import { listTeams } from "../identity/teams/teams.ts";
import { cooperative } from "../kit/yield.ts";
import { figure, type Metric, survey } from "../platform/metrics/metrics.ts";
import { rows } from "./rows.ts";

const KINDS = ["telemetry", "brain", "traces"] as const;
const FIGURES = ["deliveries", "items", "gaps", "rollbacks"] as const;

/** Totals since the record began, from the daily counts: a few rows a day, however much comes. */
const totals = survey(async (core) => {
  const yieldNow = cooperative(core.clock);
  const sums = new Map(KINDS.map((kind) => [kind as string, { deliveries: 0, items: 0, gaps: 0, rollbacks: 0 }]));
  for (const { id } of listTeams(core)) {
    for (const row of rows(core.store).totals.all(id)) {
      const sum = sums.get(row.kind);
      if (sum) for (const name of FIGURES) sum[name] += row[name];
    }
    await yieldNow();
  }
  return sums;
});

const total = (name: string, help: string, of: (typeof FIGURES)[number]) =>
  figure("counter", name, help, async (core) =>
    Array.from(await totals(core), ([kind, sum]) => [{ kind }, sum[of]] as const),
  );

export const logMetrics: readonly Metric[] = [
  total("reckon_deliveries_total", "Deliveries that changed anything, by kind.", "deliveries"),
  total("reckon_delivered_items_total", "What they brought, by kind: entries, files of brains, and sessions.", "items"),
  total("reckon_gaps_total", "Deliveries that skipped numbers or versions: something did not arrive.", "gaps"),
  total("reckon_rollbacks_total", "Deliveries that brought something again with other content.", "rollbacks"),
];
