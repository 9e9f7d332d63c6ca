import { createServer } from "node:http";
import type { Core } from "../../core.ts";
import { Problem, unavailable } from "../../kit/problem.ts";
import type { Observation } from "../http/answer-endpoint.ts";
import { counter, figure, histogram, type Metric } from "./metrics.ts";

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

/**
 * All metrics in Prometheus's text format. A metric that cannot be read is left out and counted: the others are needed most when something
 * is wrong.
 */
export async function metricsText(core: Core, metrics: readonly Metric[]): Promise<string> {
  const lines: string[] = [];
  let unread = 0;
  for (const metric of metrics) {
    try {
      lines.push(...(await metric.lines(core)));
    } catch (error) {
      unread++;
      core.log.debug("figure_unread", { figure: metric.name, cause: String(error) });
    }
  }
  const missing = figure(
    "gauge",
    "reckon_figures_unread",
    "Figures that could not be read for this reply.",
    () => unread,
  );
  return `${[...lines, ...(await missing.lines(core))].join("\n")}\n`;
}

/** @returns a function that stops the listener; there is none unless the settings name one */
export async function listenForMetrics(core: Core, metrics: readonly Metric[]): Promise<() => Promise<void>> {
  const address = core.config.metrics;
  if (!address) return async () => {};
  const colon = address.lastIndexOf(":");
  const server = createServer(({ url }, reply) => {
    if (url?.split("?")[0] !== "/metrics") {
      reply.writeHead(404, { "content-type": "text/plain" }).end("The metrics are at /metrics.\n");
      return;
    }
    void metricsText(core, metrics).then((text) =>
      reply.writeHead(200, { "content-type": "text/plain; version=0.0.4" }).end(text),
    );
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
