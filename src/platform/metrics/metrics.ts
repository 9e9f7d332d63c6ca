import { createServer, type Server } from "node:http";
import type { Core } from "../../core.ts";
import { Problem, unavailable } from "../../kit/problem.ts";
import type { Observation } from "../http/answer-endpoint.ts";

export interface Metrics {
  observe(what: Observation): void;
  listen(): Promise<void>;
  close(): Promise<void>;
}

const BUCKETS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1] as const;

interface Series {
  count: number;
  seconds: number;
  /** Requests that took no longer than each bound and longer than the one before. */
  readonly buckets: number[];
  readonly statuses: Map<number, number>;
}

/** Figures for Prometheus (text exposition format 0.0.4), on a listener of their own so that a proxy never publishes them. */
export function openMetrics(core: Core): Metrics {
  const durations = new Map<string, Series>();
  let server: Server | undefined;
  return {
    observe({ operation, status, milliseconds }) {
      let series = durations.get(operation);
      if (!series) {
        series = { count: 0, seconds: 0, buckets: BUCKETS_SECONDS.map(() => 0), statuses: new Map() };
        durations.set(operation, series);
      }
      const seconds = milliseconds / 1000;
      series.count++;
      series.seconds += seconds;
      series.statuses.set(status, (series.statuses.get(status) ?? 0) + 1);
      const bucket = BUCKETS_SECONDS.findIndex((most) => seconds <= most);
      if (bucket >= 0) series.buckets[bucket] = (series.buckets[bucket] ?? 0) + 1;
    },
    async listen() {
      const { metrics } = core.config;
      if (!metrics) return;
      const at = metrics.lastIndexOf(":");
      server = createServer((_, reply) => {
        reply.writeHead(200, { "content-type": "text/plain; version=0.0.4" }).end(render(core, durations));
      });
      await new Promise<void>((resolve, reject) => {
        const failed = (error: NodeJS.ErrnoException) =>
          reject(new Problem(unavailable, `RECKON_METRICS=${metrics} cannot be listened on (${error.code})`));
        server?.once("error", failed).listen(Number(metrics.slice(at + 1)), metrics.slice(0, at), resolve);
      });
    },
    async close() {
      server?.closeAllConnections();
      await new Promise<void>((resolve) => (server ? server.close(() => resolve()) : resolve()));
    },
  };
}

function render(core: Core, durations: Map<string, Series>): string {
  const { stats } = core.store;
  const lines = [
    "# HELP reckon_http_requests_total Requests answered.",
    "# TYPE reckon_http_requests_total counter",
    ...[...durations].flatMap(([operation, { statuses }]) =>
      [...statuses].map(
        ([status, count]) => `reckon_http_requests_total{operation="${operation}",status="${status}"} ${count}`,
      ),
    ),
    "# HELP reckon_http_request_duration_seconds Time from the request's headers to its reply.",
    "# TYPE reckon_http_request_duration_seconds histogram",
    ...[...durations].flatMap(([operation, { count, seconds, buckets }]) => [
      ...BUCKETS_SECONDS.map(
        (most, i) =>
          `reckon_http_request_duration_seconds_bucket{operation="${operation}",le="${most}"} ${buckets.slice(0, i + 1).reduce((sum, one) => sum + one, 0)}`,
      ),
      `reckon_http_request_duration_seconds_bucket{operation="${operation}",le="+Inf"} ${count}`,
      `reckon_http_request_duration_seconds_sum{operation="${operation}"} ${seconds}`,
      `reckon_http_request_duration_seconds_count{operation="${operation}"} ${count}`,
    ]),
    "# HELP reckon_store_transactions_total Transactions committed.",
    "# TYPE reckon_store_transactions_total counter",
    `reckon_store_transactions_total ${stats.transactions}`,
    "# HELP reckon_store_changes_total Changes committed; several share a transaction.",
    "# TYPE reckon_store_changes_total counter",
    `reckon_store_changes_total ${stats.changes}`,
    "# HELP reckon_store_failures_total Transactions that could not be stored.",
    "# TYPE reckon_store_failures_total counter",
    `reckon_store_failures_total ${stats.failures}`,
    "# HELP reckon_store_wal_bytes Size of the write-ahead log.",
    "# TYPE reckon_store_wal_bytes gauge",
    `reckon_store_wal_bytes ${core.store.walBytes()}`,
    "# HELP reckon_resident_bytes Resident memory.",
    "# TYPE reckon_resident_bytes gauge",
    `reckon_resident_bytes ${process.memoryUsage.rss()}`,
  ];
  return `${lines.join("\n")}\n`;
}
