import { expect, it } from "vitest";
import { ROOMS } from "../../../src/app.ts";
import { metricsText, observeRequest } from "../../../src/platform/metrics/listener.ts";
import { counter, histogram } from "../../../src/platform/metrics/metrics.ts";
import { startInstance } from "../../support/instance.ts";

const METRICS = ROOMS.flatMap(({ metrics = [] }) => metrics);

it("writes the figures of an instance as Prometheus reads them, series by series", async () => {
  const { core } = (await startInstance()).instance;
  const observe = (operation: string, status: number, milliseconds: number) =>
    observeRequest(core, { request: new Request("http://localhost/"), operation, status, milliseconds });
  observe("getHealth", 200, 1);
  observe("getPolicy", 401, 30);
  observe("getHealth", 503, 2_000);
  observe("getHealth", 200, 0.5);
  const { transactions, changes } = core.store.stats;
  const text = metricsText(core, METRICS)
    .replace(/^(reckon_resident_bytes) \d+$/m, "$1 N")
    // Jobs run when they like.
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
# HELP reckon_otlp_records_total Log records, spans and data points received by OTLP.
# TYPE reckon_otlp_records_total counter
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
