import { type Dimensions, type Report, sessionOf, TELEMETRY } from "./usage-record.ts";

/**
 * Dedupe: of all reports of one usage, known by a key of its own, one counts. Of each source's reports in one session the best is
 * kept; of those kept, the best of all counts. What a session says of itself as a whole counts only while its entries say
 * nothing. All is decided by what was reported, never by what came first.
 */

/** A source reported something anew. */
export interface Change {
  /**
   * The source whose earlier reports are void, because a session is read anew as a whole. Undefined for telemetry, unless some of it is
   * erased.
   */
  readonly replaces: number | undefined;
  readonly reports: readonly Report[];
}

/** The reports of one usage that are kept after some changes, applied in order. Its time is linear in the number of reports. */
export function reportsAfter<R extends Report>(stored: readonly R[], changes: readonly Change[]): (R | Report)[] {
  const kept = new Map<number, Map<string, R | Report>>();
  const keep = (report: R | Report) => {
    const ofSource = kept.getOrInsert(report.source, new Map());
    const session = report.dimensions ? sessionOf(report.dimensions) : "";
    const before = ofSource.get(session);
    if (!before || isBetter(report, before)) ofSource.set(session, report);
  };
  stored.forEach(keep);
  for (const { replaces, reports } of changes) {
    if (replaces !== undefined) kept.delete(replaces);
    reports.forEach(keep);
  }
  return [...kept.values()].flatMap((ofSource) => [...ofSource.values()]);
}

/** The report that counts. */
export function bestOf<R extends Report>(reports: readonly R[]): R | undefined {
  return reports.reduce<R | undefined>((best, report) => (!best || isBetter(report, best) ? report : best), undefined);
}

/**
 * The report of a session of itself as a whole that counts: none while its entries report for themselves. One that ran out and goes
 * on reports what it did before, too.
 */
export function countedOfSession<R extends Report>(reports: readonly R[]): R | undefined {
  return reports.some(({ dimensions }) => dimensions === null) ? undefined : bestOf(reports);
}

/** An order among reports that does not depend on which came first: larger, then better informed, then earlier. */
export function isBetter(a: Report, b: Report): boolean {
  if (!a.dimensions || !b.dimensions) return false;
  const [ranks, others] = [rank(a, a.dimensions), rank(b, b.dimensions)];
  const i = ranks.findIndex((value, at) => value !== others[at]);
  return i >= 0 && (ranks[i] as number | string) > (others[i] as number | string);
}

function rank({ source, measures }: Report, dimensions: Dimensions): (string | number)[] {
  const { input, output, cacheWrite, cacheWrite1h, cacheRead, reported, reportedNano } = measures;
  const { model, branch, day, repoKey, deviceId, session, context } = dimensions;
  return [
    output,
    input + cacheWrite + cacheWrite1h + cacheRead,
    cacheWrite1h,
    cacheRead,
    cacheWrite,
    reported,
    reportedNano,
    model === "" ? 0 : 1,
    branch === "" ? 0 : 1,
    -day,
    source === TELEMETRY ? 1 : 0,
    repoKey,
    deviceId,
    session,
    branch,
    model,
    context,
  ];
}
