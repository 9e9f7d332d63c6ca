import { emailKey, readEmail } from "../../identity/people/people.ts";
import type { Store } from "../../platform/store/store.ts";
import { LEFT } from "./left.ts";
import { type NodeRow, textOf } from "./rows.ts";
import type { MovedTable } from "./tables.ts";

/* Of a file that is looked at by itself. */

/** The signed note that says what the file holds. */
export const manifestNote = (db: Store["db"]): string | undefined =>
  db.prepare<[], string>("SELECT note FROM file_manifest").pluck().get();

/** Rows of a table that are not the team's. */
export const strayRows = (db: Store["db"], table: MovedTable, teamId: string): number =>
  db
    .prepare<[], number>(`SELECT count(*) FROM main.${table.name} t WHERE (${textOf(table, teamId)}) IS NOT TRUE`)
    .pluck()
    .get() ?? 0;

/** Tables that hold something, which no file has anything in. */
export const filledTables = (db: Store["db"]): string[] =>
  Object.keys(LEFT)
    .filter((table) => table !== "log_leaves" && table !== "trace_session_days")
    .filter((table) => db.prepare(`SELECT 1 FROM main.${table} LIMIT 1`).get() !== undefined);

/** Erasures that are not done, or name what is not the team's. */
export const foreignErasures = (db: Store["db"], teamId: string): number =>
  db
    .prepare<[string], number>(
      `SELECT count(*) FROM main.erasures t WHERE t.completed_at IS NULL OR (CASE
         WHEN t.kind IN ('device', 'session', 'entry') THEN json_extract(t.target, '$.deviceId') IN (SELECT id FROM main.devices)
         WHEN t.kind = 'repo' THEN NOT EXISTS (SELECT 1 FROM json_each(t.target, '$.teamIds') WHERE value <> ?)
         WHEN t.kind = 'person' THEN NOT EXISTS (
           SELECT value FROM json_each(t.target, '$.deviceIds') UNION SELECT value FROM json_each(t.target, '$.namedOn')
           EXCEPT SELECT id FROM main.devices)
         ELSE TRUE END) IS NOT TRUE`,
    )
    .pluck()
    .get(teamId) ?? 0;

/** Its leaves with their hashes, in order. */
export const leafRows = (db: Store["db"]): IterableIterator<{ n: number; sha256: Buffer }> =>
  db.prepare<[], { n: number; sha256: Buffer }>("SELECT n, sha256 FROM main.log_leaves ORDER BY n").iterate();
/** Its nodes of the log's tree, in order. */
export const nodeRows = (db: Store["db"]): IterableIterator<NodeRow> =>
  db.prepare<[], NodeRow>("SELECT first, level, sha256 FROM file_nodes ORDER BY first").iterate();
/** Tables whose rows lie in blocks, with the table of those. */
const IN_BLOCKS = {
  telemetry_segments: "telemetry_blocks",
  brain_blobs: "brain_blocks",
  trace_spans: "trace_span_blocks",
} as const;

/** Whether rows name what is not in the file: another team's, now or later, once they are numbered anew. */
export const brokenReferences = (db: Store["db"]): boolean =>
  (db.pragma("foreign_key_check") as unknown[]).length > 0 ||
  Object.entries(IN_BLOCKS).some(
    ([table, blocks]) =>
      db
        .prepare(
          `SELECT 1 FROM main.${table} WHERE block_id IS NOT NULL AND block_id NOT IN (SELECT id FROM main.${blocks}) LIMIT 1`,
        )
        .get() !== undefined,
  ) ||
  db
    .prepare(
      `SELECT 1 FROM main.brain_manifests m CROSS JOIN json_each(m.entries) e
       WHERE json_type(e.value, '$[1]') IS NOT 'integer' OR (e.value ->> '$[1]') NOT IN (SELECT id FROM main.brain_blobs) LIMIT 1`,
    )
    .get() !== undefined;

/** Whether there are packs under what is no name of one: it stands as it is in the line for a shell that installs it. */
export const hasStrangePacks = (db: Store["db"]): boolean =>
  db
    .prepare<[], string>("SELECT name FROM main.packs")
    .pluck()
    .all()
    .some((name) => !/^[a-z0-9-]+$/.test(name));

/**
 * Whether there are people under what no account has: erasing one takes what goes by their id and addresses out of the record of all teams.
 */
export const hasStrangePeople = (db: Store["db"]): boolean =>
  db
    .prepare<[], { id: string; email: string; emailKey: string | null }>(
      `SELECT id, email, email_key AS emailKey FROM main.users
       UNION ALL SELECT user_id, email, NULL FROM main.former_addresses`,
    )
    .all()
    .some(
      ({ id, email, emailKey: key }) =>
        !/^usr_[0-9a-z]+$/.test(id) || !isAddress(email) || (key !== null && key !== emailKey(email)),
    );

/** Whether somebody can go by it, or somebody who was erased does. */
function isAddress(email: string): boolean {
  try {
    return /^erased-usr_[0-9a-z]+$/.test(email) || readEmail(email) === email;
  } catch {
    return false;
  }
}

/** Numbers of rows in a file must be below this, which no real instance reaches: shifted ids then stay below 2^53, above which JavaScript rounds them. */
const ID_CEILING = 2 ** 40;

/** The last instant that a date can be of (ECMAScript 2026, section 21.4.1.1). */
const LAST_INSTANT = 8.64e15;
/** Tables that are listed for the whole installation, with instants of its clocks alone. */
const LISTED = new Set([
  "users",
  "teams",
  "memberships",
  "devices",
  "device_tokens",
  "connect_codes",
  "api_tokens",
  "holds",
]);

/** Whether a table has rows under numbers that no instance gives, or of instants that cannot be told: no list with one could be printed. */
export function hasStrangeNumbers(db: Store["db"], { name, arriving: meanings = {} }: MovedTable): boolean {
  const numbers = Object.entries(meanings).flatMap(([column, meaning]) =>
    meaning === `${name}.${column}` ? [`${column} NOT BETWEEN 1 AND ${ID_CEILING}`] : [],
  );
  const columns = db
    .prepare<[string], string>("SELECT name FROM pragma_table_info(?) WHERE name GLOB '*_at'")
    .pluck()
    .all(name);
  const instants = columns.map((column) => `${column} NOT BETWEEN -${LAST_INSTANT} AND ${LAST_INSTANT}`);
  const strange = [...numbers, ...(LISTED.has(name) ? instants : [])].join(" OR ") || "FALSE";
  return db.prepare(`SELECT 1 FROM main.${name} WHERE ${strange} LIMIT 1`).get() !== undefined;
}

/** How much of what there is in a file. */
export const counts = (db: Store["db"]) =>
  Object.fromEntries(
    (["deliveries", "devices", "users", "trace_sessions", "audit_events"] as const).map((table) => [
      table,
      db.prepare<[], number>(`SELECT count(*) FROM main.${table}`).pluck().get() ?? 0,
    ]),
  ) as Record<"deliveries" | "devices" | "users" | "trace_sessions" | "audit_events", number>;
