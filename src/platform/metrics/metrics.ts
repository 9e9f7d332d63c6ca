/**
 * Metrics: figures for Prometheus, declared by the rooms that know them, on a listener of their own so that a proxy never
 * publishes them.
 * Not here: what the figures count; whether the service is well (health).
 */
import { createServer, type Server } from "node:http";
import type { Core } from "../../core.ts";
import { Problem, unavailable } from "../../kit/problem.ts";
import type { Observation } from "../http/serve.ts";
import { counter, histogram, type Metric } from "./registry.ts";

export { counter, figure, type Metric } from "./registry.ts";

const requests = counter("reckon_http_requests_total", "Requests answered.");
const durations = histogram(
  "reckon_http_request_duration_seconds",
  "Time from the request's headers to its reply.",
  [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1],
);

export const requestMetrics: readonly Metric[] = [requests, durations];

/** Counts an answered request. */
export function observeRequest(core: Core, { operation, status, milliseconds }: Observation): void {
  requests.count(core, { operation, status });
  durations.observe(core, { operation }, milliseconds / 1000);
}

/** @returns a function that stops the listener; there is none unless the settings name one */
export async function listenForMetrics(core: Core, metrics: readonly Metric[]): Promise<() => Promise<void>> {
  const address = core.config.metrics;
  if (!address) return async () => {};
  const colon = address.lastIndexOf(":");
  const server: Server = createServer((_, reply) => {
    const text = metrics.flatMap((metric) => metric.lines(core)).join("\n");
    reply.writeHead(200, { "content-type": "text/plain; version=0.0.4" }).end(`${text}\n`);
  });
  await new Promise<void>((resolve, reject) => {
    const failed = (error: NodeJS.ErrnoException) =>
      reject(new Problem(unavailable, `RECKON_METRICS=${address} cannot be listened on (${error.code})`));
    server.once("error", failed).listen(Number(address.slice(colon + 1)), address.slice(0, colon), resolve);
  });
  return () => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(() => resolve()));
  };
}
