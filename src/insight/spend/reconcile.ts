import { bestOf, isBetter } from "./dedupe.ts";
import { ID_IN_SPANS_ONLY, ID_IN_TELEMETRY_ONLY, type Side, sideOf } from "./dedupe-key.ts";
import { namesOf } from "./model-names.ts";
import { type Dimensions, type Measures, NO_MEASURES, type Report, sessionOf } from "./usage-record.ts";

/**
 * Reconcile: telemetry and the spans of a trace report the same calls, and not always with the provider's id on both sides.
 * Without it, a report of one side and one of the other are of the same call where session and token counts are equal. Each
 * report is paired at most once, so that of equal reports as many count as the side with more of them made. What one side left
 * out of a pair (the cost, the model, the branch) is taken from the other.
 *
 * Calls with an id take part where one side alone reported it: the other side may have reported the call without. Such a call
 * stands here beside the reports, as a row whose source is `ID_IN_TELEMETRY_ONLY` or `ID_IN_SPANS_ONLY`.
 */

/** Measures that are summed under these dimensions so many times, or taken away from them. */
export interface Share {
  readonly dimensions: Dimensions;
  readonly measures: Measures;
  readonly times: number;
}

/** A call with an id that takes part among reports without one. */
export interface OneSided extends Report {
  /** The session and the token counts of the call. */
  readonly session: Dimensions;
  readonly equalTo: Measures;
}

/**
 * The sessions in which one side alone reported a call with an id. `dimensions` and `measures` are those by which the call
 * counts, or null and nothing where it counts in another session.
 * @param reports all reports of the call @param chosen the one that counts @param counted how it counts
 */
export function oneSided(
  reports: readonly Report[],
  chosen: Report | undefined,
  counted: Report | undefined = chosen,
): OneSided[] {
  const inSessions = reports.filter(({ dimensions }) => dimensions && dimensions.session !== "");
  const sessions = Map.groupBy(inSessions, ({ dimensions }) => sessionOf(dimensions as Dimensions));
  return [...sessions.values()].flatMap((ofSession): OneSided[] => {
    const sides = new Set(ofSession.map(({ source }) => sideOf(source)));
    const best = bestOf(ofSession);
    if (sides.size > 1 || !best?.dimensions) return [];
    const countsHere = counted !== undefined && chosen !== undefined && ofSession.includes(chosen);
    return [
      {
        session: best.dimensions,
        equalTo: best.measures,
        source: sides.has("telemetry") ? ID_IN_TELEMETRY_ONLY : ID_IN_SPANS_ONLY,
        dimensions: countsHere ? counted.dimensions : null,
        measures: countsHere ? counted.measures : NO_MEASURES,
        times: 1,
      },
    ];
  });
}

/**
 * What counts of all that was reported with equal token counts in one session. Calls with an id are counted elsewhere; of them
 * there is only what changes by what they are paired with.
 * @param rows reports without an id of both sides, and calls with an id of one side
 */
export function reconcile(rows: readonly Report[]): Share[] {
  const shares: Share[] = [];
  const count = ({ dimensions, measures }: Report, times: number) => {
    if (dimensions) shares.push({ dimensions, measures, times });
  };
  const toPair = (isOf: (row: Report) => boolean) => rows.filter(isOf).sort(bestFirst).map(unpaired);
  const withoutId: Record<Side, Unpaired[]> = {
    telemetry: toPair(({ source }) => source >= 0 && sideOf(source) === "telemetry"),
    spans: toPair(({ source }) => source >= 0 && sideOf(source) === "spans"),
  };
  for (const [source, others] of [
    [ID_IN_SPANS_ONLY, withoutId.telemetry],
    [ID_IN_TELEMETRY_ONLY, withoutId.spans],
  ] as const) {
    const countedHere = toPair((row) => row.source === source && row.dimensions !== null);
    pairSameModelFirst(countedHere, others, (call, report, times) => {
      const completed = complete(call, report);
      if (completed === call) return;
      count(call, -times);
      count(completed, times);
    });
    const countedElsewhere = toPair((row) => row.source === source && row.dimensions === null);
    pair(countedElsewhere, others, () => {});
  }
  pairSameModelFirst(withoutId.telemetry, withoutId.spans, (entry, span, times) => count(complete(entry, span), times));
  for (const { report, left } of [...withoutId.telemetry, ...withoutId.spans]) if (left > 0) count(report, left);
  return shares;
}

/** The same where nothing can be paired: each counts for itself. */
export const countEach = (rows: readonly Report[]): Share[] =>
  rows.flatMap(({ source, dimensions, measures, times }) =>
    source >= 0 && dimensions ? [{ dimensions, measures, times }] : [],
  );

/** A row, and how many of its times are not paired yet. */
interface Unpaired {
  readonly report: Report;
  readonly model: string;
  left: number;
}

/** Names of a model with and without the date of its release are the same. */
const unpaired = (report: Report): Unpaired => ({
  report,
  model: namesOf(report.dimensions?.model ?? "").at(-1) ?? "",
  left: report.times,
});

const bestFirst = (a: Report, b: Report): number => Number(isBetter(b, a)) - Number(isBetter(a, b));

type OnPair = (row: Report, other: Report, times: number) => void;

function pairSameModelFirst(rows: readonly Unpaired[], others: readonly Unpaired[], onPair: OnPair): void {
  if (rows.length === 0 || others.length === 0) return;
  const othersByModel = Map.groupBy(others, ({ model }) => model);
  for (const [model, sameModel] of Map.groupBy(rows, (row) => row.model))
    pair(sameModel, othersByModel.get(model) ?? [], onPair);
  pair(rows, others, onPair);
}

/** Pairs each with one of the others, in their order, as far as there are any. */
function pair(rows: readonly Unpaired[], others: readonly Unpaired[], onPair: OnPair): void {
  let [i, k] = [0, 0];
  for (;;) {
    const [row, other] = [rows[i], others[k]];
    if (!row || !other) return;
    const times = Math.min(row.left, other.left);
    if (times > 0) onPair(row.report, other.report, times);
    row.left -= times;
    other.left -= times;
    if (row.left === 0) i++;
    if (other.left === 0) k++;
  }
}

/** A report with what only the other of its pair says; the report itself where the other adds nothing. */
function complete(report: Report, other: Report): Report {
  if (!report.dimensions || !other.dimensions) return report;
  const dimensions = completeDimensions(report.dimensions, other.dimensions);
  const measures = completeMeasures(report.measures, other.measures);
  return dimensions === report.dimensions && measures === report.measures
    ? report
    : { ...report, dimensions, measures };
}

function completeDimensions(own: Dimensions, other: Dimensions): Dimensions {
  const model = own.model || other.model;
  const branch = own.branch || other.branch;
  const repoKey = own.repoKey || other.repoKey;
  const isWhole = model === own.model && branch === own.branch && repoKey === own.repoKey;
  return isWhole ? own : { ...own, model, branch, repoKey };
}

/** For how long it was written to the cache, and what it cost, from whichever says so. */
function completeMeasures(own: Measures, other: Measures): Measures {
  const { cacheWrite, cacheWrite1h } = other.cacheWrite1h > own.cacheWrite1h ? other : own;
  const { reported, reportedNano } = own.reported > 0 ? own : other;
  const isWhole = cacheWrite1h === own.cacheWrite1h && reported === own.reported;
  return isWhole ? own : { ...own, cacheWrite, cacheWrite1h, reported, reportedNano };
}
