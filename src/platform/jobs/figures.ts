import type { Core } from "../../core.ts";
import { cooperative } from "../../kit/yield.ts";
import { figure, type Metric, survey } from "../metrics/metrics.ts";
import { rows } from "./rows.ts";

/** Pieces of work that are counted in one go. */
const SLICE_ROWS = 2_000;

/** How many pieces of work wait, and how often jobs that are not done were tried, by the job's name. */
const unfinished = survey(async (core: Core) => {
  const sql = rows(core.store);
  const yieldNow = cooperative(core.clock);
  const waiting = new Map<string, number>();
  const tries = new Map(sql.failing.all().map(({ job, failures }) => [job, failures]));
  for (let after = 0; ; await yieldNow()) {
    const slice = sql.queueAfter.all(after, SLICE_ROWS);
    if (slice.length === 0) return { waiting, tries };
    for (const part of slice) {
      after = Math.max(after, part.last);
      waiting.set(part.job, (waiting.get(part.job) ?? 0) + part.waiting);
      if (part.tries > 0) tries.set(part.job, Math.max(part.tries, tries.get(part.job) ?? 0));
    }
  }
});

/** Not `job`: that is what Prometheus calls the server itself. */
const byJob = (values: ReadonlyMap<string, number>) =>
  Array.from(values, ([job, value]) => [{ job_name: job }, value] as const);

export const jobMetrics: readonly Metric[] = [
  figure(
    "gauge",
    "reckon_jobs_waiting",
    "Pieces of background work in the queue, by job; none where all is done.",
    async (core) => byJob((await unfinished(core)).waiting),
  ),
  figure(
    "gauge",
    "reckon_job_tries",
    "Failures in a row of a background job, or tries of the piece of its work that was tried most often; none where all is done.",
    async (core) => byJob((await unfinished(core)).tries),
  ),
];
