import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ROOMS } from "../../../src/app.ts";
import { metricsText, observeRequest } from "../../../src/platform/metrics/listener.ts";
import { reckon } from "../../faults/support/process.ts";
import { newFolder } from "../../support/folder.ts";
import { startInstance } from "../../support/instance.ts";

/** The rules for Prometheus and the board for Grafana that ship. Evaluated by promtool, which Debian's package prometheus has. */

const FOLDER = join(import.meta.dirname, "../../../docs/monitoring");
const RULES = join(FOLDER, "reckon-alerts.yml");
const rules = readFileSync(RULES, "utf8");
const boardText = readFileSync(join(FOLDER, "reckon-dashboard.json"), "utf8");
const METRICS = ROOMS.flatMap(({ metrics = [] }) => metrics);

const hasPromtool = spawnSync("promtool", ["--version"]).status === 0;
const withPromtool = (name: string, run: () => Promise<void> | void) =>
  it.skipIf(!hasPromtool)(
    hasPromtool ? name : `${name} (skipped: promtool is not installed, see Debian's prometheus)`,
    run,
  );

interface Target {
  readonly expr: string;
}
interface Panel {
  readonly title: string;
  readonly type: string;
  readonly datasource?: { readonly uid: string };
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets?: readonly Target[];
}
const board = JSON.parse(boardText) as {
  readonly panels: readonly Panel[];
  readonly templating: { readonly list: readonly { name: string; type: string; definition?: string }[] };
};
const panels = board.panels.filter(({ type }) => type !== "row");

/** Expressions of the rules by alert, as they stand in the file. */
function alertExpressions(): Map<string, string> {
  const found = rules.split(/^ {6}- alert: /m).slice(1);
  return new Map(
    found.map((text) => {
      const folded = /^ {8}expr: >-\n((?: {10}.*\n)+)/m.exec(text)?.[1];
      const expr = folded ?? /^ {8}expr: (.+)$/m.exec(text)?.[1] ?? "";
      return [text.split("\n")[0] as string, expr.replace(/\s+/g, " ").trim()];
    }),
  );
}

const WORDS = new Set(["and", "or", "unless", "by", "without", "on", "bool"]);

/** Names of metrics that an expression of PromQL asks for. */
function metricNames(expr: string): string[] {
  const bare = expr
    .replace(/"(?:[^"\\]|\\.)*"/g, "")
    .replace(/\{[^}]*\}|\[[^\]]*\]/g, "")
    .replace(/\b(?:by|without|on)\s*\([^)]*\)/g, "");
  const names = Array.from(bare.matchAll(/[A-Za-z_:][\w:]*(?!\w*\s*\()/g), ([name]) => name);
  return names.filter((name) => !WORDS.has(name));
}

/** Names that a real scrape declares, with those of the series that a histogram is made of. */
async function declaredNames(): Promise<Set<string>> {
  const text = await metricsText((await startInstance()).instance.core, METRICS);
  const types = Array.from(text.matchAll(/^# TYPE (\S+) (\S+)$/gm), ([, name = "", type]) => ({ name, type }));
  const names = types.flatMap(({ name, type }) =>
    type === "histogram" ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
  );
  // Prometheus makes this one itself.
  return new Set([...names, "up"]);
}

it("asks in every rule and panel for metrics that a scrape has", async () => {
  const known = await declaredNames();
  const expressions = [
    ...alertExpressions().values(),
    ...panels.flatMap((panel) => panel.targets ?? []).map(({ expr }) => expr),
  ];
  const variables = board.templating.list.flatMap(({ definition }) => definition?.match(/reckon_\w+/g) ?? []);
  expect(expressions.length).toBeGreaterThan(40);
  for (const expr of expressions) {
    const names = metricNames(expr);
    expect([expr, names.length > 0, names.filter((name) => !known.has(name))]).toEqual([expr, true, []]);
  }
  expect(variables.map((name) => known.has(name))).toEqual([true]);
});

it("counts deliveries through every endpoint that takes them", () => {
  const doors = ROOMS.flatMap(({ endpoints = [] }) => endpoints)
    .filter(({ spec }) => spec.body?.prepare !== undefined && spec.id !== "otlpMetrics")
    .map(({ spec }) => spec.id);
  const named = Array.from(`${rules}${boardText}`.matchAll(/operation=~\\?"([\w|]+)/g), ([, names = ""]) =>
    names.split("|").sort(),
  );
  expect(named).toEqual(Array(3).fill(doors.sort()));
});

it("has a board whose panels ask the data source that was chosen, and do not lie on one another", () => {
  expect(board.templating.list.map(({ name, type }) => [name, type])).toContainEqual(["datasource", "datasource"]);
  for (const { title, datasource, targets = [] } of panels)
    expect([title, targets.length > 0, datasource?.uid]).toEqual([title, true, `$\{datasource}`]);
  const cells = board.panels.flatMap(({ gridPos: { x, y, w, h } }) =>
    Array.from({ length: w * h }, (_, i) => `${x + (i % w)} ${y + Math.floor(i / w)}`),
  );
  expect(new Set(cells).size).toBe(cells.length);
  expect(board.panels.every(({ gridPos: { x, w } }) => x + w <= 24)).toBe(true);
});

it("names in the documentation every figure that there is, and no other", async () => {
  const text = readFileSync(join(FOLDER, "../monitoring.md"), "utf8");
  const named = new Set(Array.from(text.matchAll(/`((?:reckon|process)_\w+)/g), ([, name]) => name));
  const there = METRICS.map(({ name }) => name).concat("reckon_figures_unread");
  expect([...named].sort()).toEqual(there.sort());
});

it("prints both from the program", async () => {
  for (const [name, text] of [
    ["alerts", rules],
    ["dashboard", boardText],
  ] as const) {
    const done = await reckon(["monitoring", name]);
    expect([done.code, done.stderr, done.stdout === text]).toEqual([0, "", true]);
  }
});

/** Runs promtool on files, or on what stands on its standard input. @returns what it printed */
function promtool(args: readonly string[], input?: string): string {
  const done = spawnSync("promtool", args, { encoding: "utf8", ...(input === undefined ? {} : { input }) });
  const output = done.stdout + done.stderr;
  if (done.status !== 0) throw new Error(output);
  return output;
}

withPromtool("writes what Prometheus' own parser takes, and its linter finds nothing wrong with", async () => {
  const { instance } = await startInstance();
  const request = new Request("http://localhost/");
  observeRequest(instance.core, { request, operation: "getHealth", status: 200, milliseconds: 3 });
  const output = promtool(["check", "metrics"], await metricsText(instance.core, METRICS));
  expect(output).toBe("");
});

withPromtool("has rules that Prometheus takes", () => {
  expect(promtool(["check", "rules", RULES])).toContain(`SUCCESS: ${alertExpressions().size} rules found`);
});

withPromtool("has panels whose expressions Prometheus takes", () => {
  const folder = newFolder();
  const file = join(folder, "panels.json");
  const expressions = panels
    .flatMap((panel) => panel.targets ?? [])
    .map(({ expr }) => expr.replaceAll("$__rate_interval", "5m").replaceAll("$instance", ".*"));
  const recorded = expressions.map((expr, i) => ({ record: `panel:${i}`, expr }));
  writeFileSync(file, JSON.stringify({ groups: [{ name: "panels", rules: recorded }] }));
  expect(promtool(["check", "rules", file])).toContain(`SUCCESS: ${expressions.length} rules found`);
});

/** The series of a healthy server, sampled every minute; promtool counts time from the epoch on. */
const WELL: Readonly<Record<string, string>> = {
  'up{job="reckon"}': "1x3000",
  'process_start_time_seconds{job="reckon"}': "5x3000",
  reckon_store_failures_total: "0x3000",
  reckon_disk_free_bytes: "50000000000x3000",
  reckon_store_wal_bytes: "4000000x3000",
  'reckon_http_requests_total{operation="telemetryIngest",status="200"}': "0+600x3000",
  'reckon_http_requests_total{operation="telemetryIngest",status="401"}': "0+600x3000",
  'reckon_http_requests_total{operation="telemetryIngest",status="429"}': "0+6x3000",
  'reckon_http_requests_total{operation="getHealth",status="503"}': "0+1x3000",
  reckon_figures_unread: "0x3000",
  'reckon_gaps_total{kind="telemetry"}': "7x3000",
  'reckon_rollbacks_total{kind="brain"}': "7x3000",
  'reckon_devices{heard="hour"}': "3x3000",
  'reckon_devices{heard="longer"}': "0x3000",
  reckon_projection_lag_seconds: "1x3000",
  reckon_projection_skipped: "0x3000",
  reckon_ledger_leaves: "10+3x3000",
  reckon_ledger_checkpoint_leaves: "9+3x3000",
  reckon_ledger_checkpoint_timestamp_seconds: "0+60x3000",
  reckon_backup_last_success_timestamp_seconds: "1+60x3000",
  reckon_backup_failing: "0x3000",
  reckon_replica_check_last_success_timestamp_seconds: "1+60x3000",
  reckon_replica_check_failing: "0x3000",
  'reckon_job_tries{job_name="send"}': "1x3000",
  'reckon_notification_tries_total{kind="webhook",outcome="failed"}': "2x3000",
  reckon_notifications_waiting: "0x3000",
  reckon_retention_last_run_timestamp_seconds: "0+60x3000",
  reckon_erasures_unfinished: "0x3000",
  reckon_paid_period_end_timestamp_seconds: "9000000x3000",
};

/** The series that differ when a rule must fire, and a minute at which it does. */
const TROUBLES: Readonly<Record<string, { readonly at: number; readonly series: Readonly<Record<string, string>> }>> = {
  ReckonDown: { at: 30, series: { 'up{job="reckon"}': "1x9 0x3000" } },
  ReckonRestarts: { at: 30, series: { 'process_start_time_seconds{job="reckon"}': "5x9 600 700 800 800x3000" } },
  ReckonStoreFailing: { at: 12, series: { reckon_store_failures_total: "0x9 2x3000" } },
  ReckonDiskLow: { at: 30, series: { reckon_disk_free_bytes: "900000000x3000" } },
  ReckonWalLarge: { at: 30, series: { reckon_store_wal_bytes: "900000000x3000" } },
  ReckonErrorRate: {
    at: 30,
    series: { 'reckon_http_requests_total{operation="getHealth",status="503"}': "0+100x3000" },
  },
  ReckonFiguresUnread: { at: 30, series: { reckon_figures_unread: "1x3000" } },
  ReckonRollback: { at: 30, series: { 'reckon_rollbacks_total{kind="brain"}': "7x9 8x3000" } },
  ReckonGap: { at: 30, series: { 'reckon_gaps_total{kind="telemetry"}': "7x9 8x3000" } },
  ReckonDeviceQuiet: { at: 90, series: { 'reckon_devices{heard="longer"}': "2x3000" } },
  ReckonIngestRefusing: {
    at: 40,
    series: { 'reckon_http_requests_total{operation="telemetryIngest",status="429"}': "0+400x3000" },
  },
  ReckonProjectionLag: { at: 30, series: { reckon_projection_lag_seconds: "400x3000" } },
  ReckonProjectionSkipped: { at: 30, series: { reckon_projection_skipped: "1x3000" } },
  ReckonCheckpointStale: {
    at: 30,
    series: { reckon_ledger_checkpoint_leaves: "9x3000", reckon_ledger_checkpoint_timestamp_seconds: "0x3000" },
  },
  ReckonBackupNever: { at: 90, series: { reckon_backup_last_success_timestamp_seconds: "0x3000" } },
  ReckonBackupStale: { at: 2_950, series: { reckon_backup_last_success_timestamp_seconds: "1x3000" } },
  ReckonBackupFailing: { at: 60, series: { reckon_backup_failing: "1x3000" } },
  ReckonReplicaStale: { at: 2_950, series: { reckon_replica_check_last_success_timestamp_seconds: "1x3000" } },
  ReckonReplicaFailing: { at: 60, series: { reckon_replica_check_failing: "1x3000" } },
  ReckonLakeStale: { at: 80, series: { reckon_lake_current_timestamp_seconds: "1x3000" } },
  ReckonJobFailing: { at: 30, series: { 'reckon_job_tries{job_name="send"}': "4x3000" } },
  ReckonNotificationsFailing: {
    at: 90,
    series: {
      'reckon_notification_tries_total{kind="webhook",outcome="failed"}': "2+1x3000",
      reckon_notifications_waiting: "1x3000",
    },
  },
  ReckonRetentionStale: { at: 90, series: { reckon_retention_last_run_timestamp_seconds: "-172800x3000" } },
  ReckonErasureUnfinished: { at: 400, series: { reckon_erasures_unfinished: "1x3000" } },
  ReckonPaidPeriodEnds: { at: 30, series: { reckon_paid_period_end_timestamp_seconds: "1000000x3000" } },
};

/** Rules that depend on when something last went well. */
const NEWEST: Readonly<Record<string, string>> = {
  ReckonBackupStale: "reckon_backup_last_success_timestamp_seconds",
  ReckonReplicaStale: "reckon_replica_check_last_success_timestamp_seconds",
  ReckonLakeStale: "reckon_lake_current_timestamp_seconds",
};

withPromtool("fires each rule for its trouble alone, and none for a server that is well", () => {
  expect(Object.keys(TROUBLES).sort()).toEqual([...alertExpressions().keys()].sort());
  const folder = newFolder();
  const test = (name: string, at: number, series: Readonly<Record<string, string>>, firing: readonly string[]) => ({
    name,
    interval: "1m",
    // Reading samples that no rule asks for would be most of the cost.
    input_series: Object.entries({ ...WELL, ...series }).map(([one, values]) => ({
      series: one,
      values: values.replace("x3000", `x${at}`),
    })),
    promql_expr_test: [
      {
        expr: 'count by (alertname) (ALERTS{alertstate="firing"})',
        eval_time: `${at}m`,
        exp_samples: firing.map((alertname) => ({ labels: `{alertname="${alertname}"}`, value: 1 })),
      },
    ],
  });
  const tests = [
    ...[30, 90, 400].map((at) => test(`well at ${at}`, at, {}, [])),
    ...Object.entries(TROUBLES).map(([alert, { at, series }]) => test(alert, at, series, [alert])),
    // A clock that was a week ahead must not hide for a week that nothing is made any more.
    ...Object.entries(NEWEST).map(([alert, name]) =>
      test(`${alert} of the future`, 90, { [name]: "604800x3000" }, [alert]),
    ),
  ];
  // Rules that take hours to fire are evaluated less often, because each evaluation costs the same.
  const files = (["1m", "10m"] as const).map((evaluation_interval) => {
    const file = join(folder, `${evaluation_interval}.json`);
    const own = tests.filter(
      (one) =>
        one.promql_expr_test.some(({ eval_time }) => Number.parseInt(eval_time, 10) >= 400) ===
        (evaluation_interval === "10m"),
    );
    writeFileSync(file, JSON.stringify({ rule_files: [RULES], evaluation_interval, tests: own }));
    return file;
  });
  const output = execFileSync("promtool", ["test", "rules", ...files], { encoding: "utf8" });
  expect(output.split("SUCCESS")).toHaveLength(1 + files.length);
});
