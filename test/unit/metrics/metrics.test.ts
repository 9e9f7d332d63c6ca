import { expect, it } from "vitest";
import { ROOMS } from "../../../src/app.ts";
import { metricsText, observeRequest } from "../../../src/platform/metrics/listener.ts";
import { counter, figure, histogram, survey } from "../../../src/platform/metrics/metrics.ts";
import { startInstance } from "../../support/instance.ts";

/** The metrics of requests, changes and threads. Those of the record are tested in record.test.ts. */
const METRICS = ROOMS.flatMap(({ metrics = [] }) => metrics).filter(({ name }) =>
  /^reckon_(?:http|store_(?!unused|bytes)|resident|job_runs|worker)/.test(name),
);

it("writes the figures of an instance as Prometheus reads them, series by series", async () => {
  const { core } = (await startInstance()).instance;
  const observe = (operation: string, status: number, milliseconds: number) =>
    observeRequest(core, { request: new Request("http://localhost/"), operation, status, milliseconds });
  observe("getHealth", 200, 1);
  observe("getPolicy", 401, 30);
  observe("getHealth", 503, 2_000);
  observe("getHealth", 200, 0.5);
  const { transactions, changes } = core.store.stats;
  const text = (await metricsText(core, METRICS))
    .replace(/^(reckon_resident_bytes) \d+$/m, "$1 N")
    // Jobs run at times of their own.
    .replace(/^reckon_job_runs_total\{.*\n/gm, "");
  expect(text).toBe(`# HELP reckon_http_requests_total Requests answered.
# TYPE reckon_http_requests_total counter
reckon_http_requests_total{operation="getHealth",status="200"} 2
reckon_http_requests_total{operation="getHealth",status="503"} 1
reckon_http_requests_total{operation="getPolicy",status="401"} 1
# HELP reckon_http_request_duration_seconds Time from the request's headers to its reply.
# TYPE reckon_http_request_duration_seconds histogram
reckon_http_request_duration_seconds_bucket{operation="getHealth",le="0.001"} 2
reckon_http_request_duration_seconds_bucket{operation="getHealth",le="0.0025"} 2
reckon_http_request_duration_seconds_bucket{operation="getHealth",le="0.005"} 2
reckon_http_request_duration_seconds_bucket{operation="getHealth",le="0.01"} 2
reckon_http_request_duration_seconds_bucket{operation="getHealth",le="0.025"} 2
reckon_http_request_duration_seconds_bucket{operation="getHealth",le="0.05"} 2
reckon_http_request_duration_seconds_bucket{operation="getHealth",le="0.1"} 2
reckon_http_request_duration_seconds_bucket{operation="getHealth",le="0.25"} 2
reckon_http_request_duration_seconds_bucket{operation="getHealth",le="1"} 2
reckon_http_request_duration_seconds_bucket{operation="getHealth",le="+Inf"} 3
reckon_http_request_duration_seconds_sum{operation="getHealth"} 2.0015
reckon_http_request_duration_seconds_count{operation="getHealth"} 3
reckon_http_request_duration_seconds_bucket{operation="getPolicy",le="0.001"} 0
reckon_http_request_duration_seconds_bucket{operation="getPolicy",le="0.0025"} 0
reckon_http_request_duration_seconds_bucket{operation="getPolicy",le="0.005"} 0
reckon_http_request_duration_seconds_bucket{operation="getPolicy",le="0.01"} 0
reckon_http_request_duration_seconds_bucket{operation="getPolicy",le="0.025"} 0
reckon_http_request_duration_seconds_bucket{operation="getPolicy",le="0.05"} 1
reckon_http_request_duration_seconds_bucket{operation="getPolicy",le="0.1"} 1
reckon_http_request_duration_seconds_bucket{operation="getPolicy",le="0.25"} 1
reckon_http_request_duration_seconds_bucket{operation="getPolicy",le="1"} 1
reckon_http_request_duration_seconds_bucket{operation="getPolicy",le="+Inf"} 1
reckon_http_request_duration_seconds_sum{operation="getPolicy"} 0.03
reckon_http_request_duration_seconds_count{operation="getPolicy"} 1
# HELP reckon_store_transactions_total Transactions committed.
# TYPE reckon_store_transactions_total counter
reckon_store_transactions_total ${transactions}
# HELP reckon_store_changes_total Changes committed; several share a transaction.
# TYPE reckon_store_changes_total counter
reckon_store_changes_total ${changes}
# HELP reckon_store_failures_total Transactions that could not be stored.
# TYPE reckon_store_failures_total counter
reckon_store_failures_total 0
# HELP reckon_store_wal_bytes Size of the write-ahead log.
# TYPE reckon_store_wal_bytes gauge
reckon_store_wal_bytes ${core.store.walBytes()}
# HELP reckon_resident_bytes Resident memory.
# TYPE reckon_resident_bytes gauge
reckon_resident_bytes N
# HELP reckon_job_runs_total Runs of background jobs.
# TYPE reckon_job_runs_total counter
# HELP reckon_worker_jobs_waiting Jobs that wait for a worker thread.
# TYPE reckon_worker_jobs_waiting gauge
reckon_worker_jobs_waiting 0
# HELP reckon_workers Worker threads that there are.
# TYPE reckon_workers gauge
reckon_workers 0
# HELP reckon_workers_busy Worker threads at work.
# TYPE reckon_workers_busy gauge
reckon_workers_busy 0
# HELP reckon_figures_unread Figures that could not be read for this reply.
# TYPE reckon_figures_unread gauge
reckon_figures_unread 0
`);
});

it("keeps the figures of two instances in one process apart", async () => {
  const [one, other] = [(await startInstance()).instance.core, (await startInstance()).instance.core];
  const counted = counter("test_total", "Counted.");
  const spread = histogram("test_seconds", "Spread.", [1]);
  counted.count(one, { kind: "a" });
  spread.observe(one, {}, 2);
  expect([counted.lines(one).length, counted.lines(other).length]).toEqual([3, 2]);
  expect([spread.lines(one).length, spread.lines(other).length]).toEqual([6, 2]);
});

it("leaves out a figure that cannot be read, counts it, and reports all others", async () => {
  const { core } = (await startInstance()).instance;
  const broken = figure("gauge", "test_broken", "Broken.", () => {
    throw new Error("no such table");
  });
  const none = figure("gauge", "test_none", "Not known.", () => undefined);
  const some = figure("gauge", "test_some", "Known.", () => [
    [{ kind: "a" }, 1],
    [{ kind: 'b"\\\n' }, 2],
  ]);
  expect(await metricsText(core, [broken, none, some])).toBe(`# HELP test_none Not known.
# TYPE test_none gauge
# HELP test_some Known.
# TYPE test_some gauge
test_some{kind="a"} 1
test_some{kind="b\\"\\\\\\n"} 2
# HELP reckon_figures_unread Figures that could not be read for this reply.
# TYPE reckon_figures_unread gauge
reckon_figures_unread 1
`);
});

it("surveys the record once a minute, however many ask, and again after a failed survey", async () => {
  const { clock, instance } = await startInstance();
  let looks = 0;
  let fails = false;
  const seen = survey(async () => {
    looks++;
    if (fails) throw new Error("the disk is gone");
    return looks;
  });
  expect(await Promise.all([seen(instance.core), seen(instance.core)])).toEqual([1, 1]);
  clock.advance(59_999);
  expect(await seen(instance.core)).toBe(1);
  clock.advance(1);
  fails = true;
  await expect(seen(instance.core)).rejects.toThrow("the disk is gone");
  fails = false;
  expect(await seen(instance.core)).toBe(3);
});
