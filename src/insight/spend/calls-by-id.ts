import type { Core } from "../../core.ts";
import type { CallsByMeasures } from "./calls-by-measures.ts";
import { bestOf, type Change, isBetter, reportsAfter } from "./dedupe.ts";
import { endOf, messageOf, requestOf } from "./dedupe-key.ts";
import { oneSided } from "./reconcile.ts";
import type { Rollup, StoredReport } from "./rollup.ts";
import { rows } from "./rows.ts";
import { type Report, sessionOf } from "./usage-record.ts";

/**
 * Reports that are kept of one call, and of one request, at most. Sessions that go on from a copy of another repeat its calls. Further
 * reports would be read anew with each that follows, and say what the others say.
 */
const MAX_REPORTS = 64;

/**
 * Calls with an id, in one transaction: feeds what is stored of each to `dedupe`. What is reported by the id of a request alone is
 * a report of the message that a link ties the request to, as long as there is one such message; otherwise the request stands
 * for itself.
 */
export class CallsById {
  readonly #core: Core;
  readonly #rollup: Rollup;
  readonly #withoutId: CallsByMeasures;
  constructor(core: Core, rollup: Rollup, withoutId: CallsByMeasures) {
    this.#core = core;
    this.#rollup = rollup;
    this.#withoutId = withoutId;
  }

  /** Reported under the key of a message, or of a request alone. */
  change(teamId: string, key: Buffer, changes: readonly Change[]): void {
    const named = messageOf(key);
    const message = named ?? this.#messageOf(teamId, key);
    const ofMessage = message ? this.#ofMessage(teamId, message) : [];
    const ofKey = named ? ofMessage.filter((report) => report.key.equals(key)) : this.#rollup.reportsOf(teamId, key);
    const sources = new Set(
      changes.flatMap(({ replaces, reports }) => [replaces, ...reports.map(({ source }) => source)]),
    );
    const before = ofKey.filter(({ source }) => sources.has(source));
    if (changes.every((change) => this.#isKnown(before, change))) return;
    const gone = new Set(before);
    const others = (named ? ofMessage : ofKey).filter((report) => !gone.has(report));
    const after = withinBound(storedAfter(this.#rollup, before, key, changes), before, others);
    if (!this.#rollup.replace(teamId, before, after)) return;
    const whole = (some: readonly StoredReport[]) => {
      const reports = [...others, ...some];
      if (!message) return reports;
      return named
        ? this.#withRequests(teamId, message, reports)
        : this.#withRequests(teamId, message, ofMessage, { request: key, reports });
    };
    const [wholeBefore, wholeAfter] = [whole(before), whole(after)];
    // Reports under the request's key alone may have joined the call, or left it, with the key that names both message and request.
    const same = new Set([...others, ...(named ? [] : ofMessage)]);
    const changed = [...wholeBefore, ...wholeAfter].filter((report) => !same.has(report));
    this.#recount(teamId, [wholeBefore], [wholeAfter], new Set(changed.map(sessionNameOf)));
  }

  /** Telemetry repeats itself: what is stored already needs no new decision. */
  #isKnown(before: readonly StoredReport[], { replaces, reports }: Change): boolean {
    return (
      replaces === undefined &&
      reports.every((report) => {
        const cellId = this.#rollup.findCell(report.dimensions);
        const row = before.find((stored) => stored.source === report.source && stored.cellId === cellId);
        return row !== undefined && !isBetter(report, row);
      })
    );
  }

  /** Stores that a request belongs to a message, as is reported, or no longer does. */
  link(teamId: string, key: Buffer, changes: readonly Change[]): void {
    const before = this.#rollup.reportsOf(teamId, key);
    const after = withinBound(storedAfter(this.#rollup, before, key, changes), before, []);
    const isNews = (before.length === 0) !== (after.length === 0);
    const request = requestOf(key) as Buffer;
    const reports = isNews ? this.#rollup.reportsOf(teamId, request) : [];
    if (reports.length === 0) {
      this.#rollup.replace(teamId, before, after);
      return;
    }
    const messageBefore = this.#messageOf(teamId, request);
    this.#rollup.replace(teamId, before, after);
    const messageAfter = this.#messageOf(teamId, request);
    const messages = [messageBefore, messageAfter].filter((message) => message !== undefined);
    const distinct = [...new Map(messages.map((message) => [message.toString("latin1"), message])).values()];
    const whenLinkedTo = (linked: Buffer | undefined) => [
      ...distinct.map((message) =>
        this.#withRequests(teamId, message, this.#ofMessage(teamId, message), {
          request,
          reports: linked?.equals(message) ? reports : [],
        }),
      ),
      ...(linked ? [] : [reports]),
    ];
    this.#recount(teamId, whenLinkedTo(messageBefore), whenLinkedTo(messageAfter));
  }

  /** The one message that a request is tied to; undefined where there is none or several. */
  #messageOf(teamId: string, request: Buffer): Buffer | undefined {
    const [link, second] = rows(this.#core.store).twoLinks.all(teamId, request, endOf(request));
    return link && !second ? messageOf(link) : undefined;
  }

  #ofMessage(teamId: string, message: Buffer): StoredReport[] {
    return rows(this.#core.store)
      .within.all(teamId, message, endOf(message))
      .map((row) => this.#rollup.read(row));
  }

  /** Reports of a message with those of its requests. @param known reports of one request, to be used instead of the stored ones */
  #withRequests(
    teamId: string,
    message: Buffer,
    ofMessage: readonly StoredReport[],
    known?: { readonly request: Buffer; readonly reports: readonly StoredReport[] },
  ): StoredReport[] {
    const requests = new Map<string, Buffer>();
    for (const { key } of ofMessage) {
      const request = requestOf(key);
      if (request) requests.set(request.toString("latin1"), request);
    }
    const ofRequests = [...requests.values()].flatMap((request) => {
      if (known?.request.equals(request)) return known.reports;
      return this.#messageOf(teamId, request)?.equals(message) ? this.#rollup.reportsOf(teamId, request) : [];
    });
    return [...ofMessage, ...ofRequests];
  }

  /**
   * Counts calls anew. Each list is what is reported of one call.
   * @param reporting the sessions whose reports changed; all without it. Otherwise a call that very many sessions tell of would be counted
   * anew in each of them, with every session that tells of it.
   */
  #recount(
    teamId: string,
    before: readonly (readonly StoredReport[])[],
    after: readonly (readonly StoredReport[])[],
    reporting?: ReadonlySet<string>,
  ): void {
    const all = [
      ...before.map((reports) => ({ reports, times: -1 as const })),
      ...after.map((reports) => ({ reports, times: 1 as const })),
    ];
    const counts = all.map(({ reports, times }) => ({ reports, times, home: homeOf(reports) }));
    // Also the sessions in which the calls count, because they stand differently there.
    const sessions =
      reporting && new Set([...reporting, ...counts.flatMap(({ home }) => (home ? sessionNameOf(home) : []))]);
    for (const { reports, times, home } of counts) {
      const counted = home && placed(home, reports);
      if (counted?.dimensions) this.#rollup.add({ dimensions: counted.dimensions, measures: counted.measures, times });
      const changed = sessions ? reports.filter((report) => sessions.has(sessionNameOf(report))) : reports;
      for (const call of oneSided(changed, home, counted)) this.#withoutId.callWithId(teamId, call, times);
    }
  }
}

/** The reports to be stored beside others, within the bound; those that are stored already come first. */
const withinBound = (
  after: readonly StoredReport[],
  before: readonly StoredReport[],
  others: readonly StoredReport[],
): readonly StoredReport[] => after.slice(0, Math.max(before.length, MAX_REPORTS - others.length));

const sessionNameOf = ({ dimensions }: Report): string => (dimensions ? sessionOf(dimensions) : "");

/** The report in whose session a call counts: preferably one that was not exported. */
const homeOf = (reports: readonly StoredReport[]) =>
  bestOf(reports.filter(({ dimensions }) => dimensions?.otlp === 0)) ?? bestOf(reports);

/** The report that counts, moved to the session of `home`. Where that knows no repository, the best report that names one gives it. */
function placed({ dimensions: home }: Report, reports: readonly Report[]): Report | undefined {
  const best = bestOf(reports);
  if (!best?.dimensions || !home) return best;
  const { deviceId, session, otlp } = home;
  const named = bestOf(reports.filter(({ dimensions }) => dimensions && dimensions.repoKey !== ""))?.dimensions;
  const repoKey = home.repoKey || named?.repoKey || "";
  return { ...best, dimensions: { ...best.dimensions, deviceId, session, otlp, repoKey } };
}

/** What is to be stored under a key after changes. */
export function storedAfter(
  rollup: Rollup,
  stored: readonly StoredReport[],
  key: Buffer,
  changes: readonly Change[],
): StoredReport[] {
  return reportsAfter(stored, changes).map((report) => rollup.toStore(key, report));
}
