import { local } from "../../platform/store/store.ts";
import type { SourceRow } from "../rows.ts";
import { opencodeRows, type Until } from "./opencode-rows.ts";
import type { Reading } from "./read.ts";
import { signOfDatabase } from "./signs.ts";
import type { Found } from "./stores.ts";

const CHUNK_RECORDS = 2_000;
/** How far back is read again: a row that was written during the last look has a time before the end of that look. */
const OVERLAP_MS = 60_000;
/** Ends of tables that nobody noted: no row lies beyond. */
const NO_ENDS = { message: Number.MAX_SAFE_INTEGER, part: Number.MAX_SAFE_INTEGER };

/**
 * Reads what was written to opencode's database since the last look. Rows are updated in place, so reading begins a little earlier. Rows
 * that were added since are read as well, even if a slow clock gave them an earlier time. What was recorded is recognised.
 * @throws Error when their database is busy, or has another schema; SqliteError of our own
 */
export async function readOpencode(reading: Reading, found: Found, known: SourceRow | undefined): Promise<void> {
  const { capture, recorder, format, onBytes, goOn } = reading;
  const sign = signOfDatabase(found.path);
  if (!sign) return;
  const { born: _, ...signs } = sign;
  const now = capture.clock.now();
  // An offset later than now means that the clock was set back. Rows written since have earlier times, so all is read again.
  const since = known && known.offset <= now ? known.offset - OVERLAP_MS : 0;
  const db = ofTheirs(() => local.openForeign(found.path));
  try {
    const { sql, ends } = ofTheirs(() => {
      const sql = opencodeRows(db);
      return { sql, ends: sql.ends.get() };
    });
    const before = known?.carry ? JSON.parse(known.carry) : NO_ENDS;
    const until: Until = { ...before, since };
    const reader = format.open({ path: found.place });
    let latest = known?.offset ?? 0;
    let records: string[] = [];
    const store = (isDone: boolean) => {
      capture.transact(() => {
        for (const record of records)
          for (const event of reader.read(record))
            recorder.take(found.agent, event, { revises: format.revises ?? false });
        recorder.flush();
        if (isDone)
          capture.rows.putSource.run({
            ...signs,
            path: found.path,
            agent: found.agent,
            // A row with a time to come is read again until that time has come.
            offset: Math.min(latest, now),
            guard: null,
            carry: JSON.stringify(ends),
            seenAt: capture.clock.now(),
          });
      });
      records = [];
    };
    const take = (row: object) => {
      const record = JSON.stringify(row);
      records.push(record);
      onBytes(record.length);
    };
    for (const session of ofTheirs(() => sql.changed.all(until))) {
      take(session);
      for (const row of each(sql.rows.iterate({ ...until, id: session.id }))) {
        take(row);
        latest = Math.max(latest, Number(row.time_updated) || 0);
        if (records.length >= CHUNK_RECORDS) store(false);
      }
      if (!(await goOn())) return;
    }
    store(true);
  } finally {
    db.close();
  }
}

/** An error of their database as that of a file which cannot be read: by SQLite's code it would pass for one of our own. */
const theirs = (error: unknown) => new Error((error as Error).message, { cause: error });

function ofTheirs<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw theirs(error);
  }
}

function* each<T>(rows: Iterable<T>): Generator<T> {
  try {
    yield* rows;
  } catch (error) {
    throw theirs(error);
  }
}
