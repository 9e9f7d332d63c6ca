import type { Core } from "../../core.ts";
import { each, type Slices } from "../../kit/slices.ts";
import { add, type Changes, emptyOlder, nameOf } from "./changes.ts";
import { reportsAfter } from "./dedupe.ts";
import { isByMeasures } from "./dedupe-key.ts";
import { nameOfDimensions, Rollup, rowName } from "./rollup.ts";
import { rows, type StoredRow } from "./rows.ts";
import { type Report, sameMeasures, type UsageRecord } from "./usage-record.ts";

/** What a session reports under a dedupe key: for a call with an id the report that counts, otherwise one report and how often it was made. */
interface Reported {
  readonly key: Buffer;
  readonly reports: readonly Report[];
}

/** All that a session reports, by name: each call with an id once, and each report that it makes without one. */
export function* reportedOnce(records: Iterable<UsageRecord>): Slices<ReadonlyMap<string, Reported>> {
  const reported = new Map<string, Reported>();
  yield* each(records, (record) => {
    const { key } = record;
    const name = isByMeasures(key) ? `${nameOf(record)} ${nameOfDimensions(record.dimensions)}` : nameOf(record);
    const before = reported.get(name);
    if (!before) reported.set(name, { key, reports: [record] });
    else reported.set(name, { key, reports: withAnother(before, record) });
  });
  return reported;
}

function withAnother({ key, reports }: Reported, record: UsageRecord): readonly Report[] {
  if (!isByMeasures(key)) return reportsAfter(reports, [{ replaces: undefined, reports: [record] }]);
  return reports.map((report) => ({ ...report, times: report.times + record.times }));
}

/**
 * Makes these a session's reports, in place of all that it made before. Each piece may be done in a transaction of its own: nothing else
 * changes what is stored meanwhile, and a repetition compares it anew.
 */
export function* addSession(
  core: Core,
  all: Changes,
  session: { readonly id: number; readonly teamId: string },
  reported: ReadonlyMap<string, Reported>,
): Slices<void> {
  emptyOlder(core);
  const { id: replaces, teamId } = session;
  const rollup = new Rollup(core);
  const stored = new StoredReports(core, session);
  const same = new Set<string>();
  yield* each(reported, ([name, { key, reports }]) => {
    if (!isByMeasures(key)) {
      if (!areStored(rollup, stored.under(key), reports)) add(all, teamId, key, { replaces, reports });
      return;
    }
    for (const report of reports) {
      const cellId = rollup.findCell(report.dimensions);
      const before = cellId === undefined ? undefined : stored.inCell(key, cellId);
      if (before) same.add(rowName(before));
      const times = report.times - (before?.times ?? 0);
      if (times !== 0) add(all, teamId, key, { replaces: undefined, reports: [{ ...report, times }] }, name);
    }
  });
  for (const page of stored.pages()) {
    for (const row of page) {
      const { key, times } = row;
      if (isByMeasures(key)) {
        if (same.has(rowName(row))) continue;
        add(all, teamId, key, { replaces: undefined, reports: [{ ...rollup.read(row), times: -times }] }, rowName(row));
      } else if (!reported.has(nameOf({ teamId, key }))) add(all, teamId, key, { replaces, reports: [] });
    }
    yield;
  }
}

/** Whether what is stored under a key is what is reported now. */
function areStored(rollup: Rollup, stored: readonly StoredRow[], reports: readonly Report[]): boolean {
  const byCell = new Map(stored.map((row) => [row.cellId, row]));
  return (
    stored.length === reports.length &&
    reports.every(({ dimensions, measures, times }) => {
      const row = byCell.get(rollup.findCell(dimensions) ?? -1);
      return row?.times === times && sameMeasures(measures, row);
    })
  );
}

/** What is stored of a session's reports: looked up one by one where there are too many to be read at once. */
class StoredReports {
  readonly #core: Core;
  readonly #session: { readonly id: number; readonly teamId: string };
  readonly #first: readonly StoredRow[];
  readonly #inCell: ReadonlyMap<string, StoredRow>;
  readonly #under: ReadonlyMap<string, readonly StoredRow[]>;
  constructor(core: Core, session: { readonly id: number; readonly teamId: string }) {
    this.#core = core;
    this.#session = session;
    this.#first = this.#page();
    this.#inCell = new Map(this.#first.map((row) => [rowName(row), row]));
    this.#under = Map.groupBy(this.#first, ({ key }) => key.toString("latin1"));
  }

  #page(after?: StoredRow): readonly StoredRow[] {
    const { id: source, teamId } = this.#session;
    const { key = Buffer.alloc(0), cellId = 0 } = after ?? {};
    return rows(this.#core.store).ofSession.all({ source, teamId, key, cellId, limit: PAGE_ROWS });
  }

  get #isWhole(): boolean {
    return this.#first.length < PAGE_ROWS;
  }

  under(key: Buffer): readonly StoredRow[] {
    if (this.#isWhole) return this.#under.get(key.toString("latin1")) ?? [];
    return rows(this.#core.store).reportsFrom.all(this.#session.teamId, key, this.#session.id);
  }

  inCell(key: Buffer, cellId: number): StoredRow | undefined {
    const { id: source, teamId } = this.#session;
    if (this.#isWhole) return this.#inCell.get(rowName({ key, source, cellId }));
    return rows(this.#core.store).reportFrom.get(teamId, key, source, cellId);
  }

  *pages(): Generator<readonly StoredRow[]> {
    for (let page = this.#first; ; page = this.#page(page.at(-1))) {
      yield page;
      if (page.length < PAGE_ROWS) return;
    }
  }
}

const PAGE_ROWS = 1_000;
