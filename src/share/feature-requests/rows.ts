import { holdsSought } from "../../kit/strings.ts";
import { type Preparer, statements } from "../../platform/store/store.ts";

/** What becomes of a request, in the usual order; any may follow any. */
export const STATUSES = ["received", "planned", "in_progress", "shipped", "declined"] as const;

export type Status = (typeof STATUSES)[number];

export interface RequestRow {
  readonly id: string;
  readonly text: string;
  /** The JSON object as sent without the text, redacted. */
  readonly context: string;
  readonly status: Status;
  /** The operators' own remark; nobody else is shown it. */
  readonly note: string | null;
  /** The request that this one repeats. */
  readonly mergedInto: string | null;
  /** The same for requests from one address; see `addressHash`. */
  readonly addressHash: Buffer;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** How many requests are merged into this one. */
  readonly duplicates: number;
}

interface Change {
  readonly id: string;
  readonly status: Status;
  readonly note: string | null;
  readonly mergedInto: string | null;
  readonly updatedAt: number;
}

/** A stretch of ids in one direction: beyond `from`, up to and with `edge`. */
interface Stretch {
  readonly from: string;
  readonly edge: string;
  /** For the statements of one status. */
  readonly status: Status | null;
  /** 1 for merged requests only, 0 for the others only, null for both. */
  readonly merged: 0 | 1 | null;
  /** Both as `soughtText` makes them. */
  readonly text: string | null;
  readonly begins: string | null;
  readonly count: number;
}

// The number of duplicates comes by product_requests_merged.
const REQUEST = `r.id, r.text, r.context, r.status, r.note, r.merged_into AS mergedInto, r.address_hash AS addressHash,
  r.created_at AS createdAt, r.updated_at AS updatedAt,
  (SELECT count(*) FROM product_requests d WHERE d.merged_into = r.id) AS duplicates FROM product_requests r`;

/** Reads ids in their order, by the primary key's index or, for one status, by product_requests_by_status. */
function walk(db: Preparer, towards: "older" | "newer", ofStatus: boolean) {
  const [beyond, upTo, way] = towards === "older" ? ["<", ">=", "DESC"] : [">", "<=", "ASC"];
  const status = ofStatus ? "r.status = @status AND" : "";
  return {
    /** The id at which a stretch of `span` ends; undefined when fewer are left. */
    edge: db
      .prepare<[{ from: string; status: Status | null; span: number }], string>(
        `SELECT r.id FROM product_requests r WHERE ${status} r.id ${beyond} @from ORDER BY r.id ${way} LIMIT 1 OFFSET @span - 1`,
      )
      .pluck(),
    /** What matches within a stretch, nearest first. */
    read: db.prepare<[Stretch], RequestRow>(
      `SELECT ${REQUEST} WHERE ${status} r.id ${beyond} @from AND r.id ${upTo} @edge
         AND (@merged IS NULL OR (r.merged_into IS NOT NULL) = @merged)
         AND (@text IS NULL OR ${holdsSought("r.text", "r.note", "r.context", "r.id")})
       ORDER BY r.id ${way} LIMIT @count`,
    ),
  };
}

export type Walk = ReturnType<typeof walk>;

export const rows = statements((db) => ({
  insert: db.prepare<[{ id: string; text: string; context: string; addressHash: Buffer; at: number }]>(
    `INSERT INTO product_requests (id, text, context, status, address_hash, created_at, updated_at)
     VALUES (@id, @text, @context, 'received', @addressHash, @at, @at)`,
  ),
  // By product_requests_by_status, without the rows.
  waiting: db.prepare<[], number>("SELECT count(*) FROM product_requests WHERE status = 'received'").pluck(),
  // By product_requests_merged.
  waitingMerged: db
    .prepare<[], number>("SELECT count(*) FROM product_requests WHERE merged_into IS NOT NULL AND status = 'received'")
    .pluck(),
  // By the primary key.
  byId: db.prepare<[string], RequestRow>(`SELECT ${REQUEST} WHERE r.id = ?`),
  // By the primary key, a step for every merge. UNION rather than UNION ALL, so that it ends whatever the table holds.
  root: db.prepare<[string], { readonly id: string; readonly status: Status }>(
    `WITH RECURSIVE chain (id, status, merged_into) AS (
       SELECT id, status, merged_into FROM product_requests WHERE id = ?
       UNION SELECT p.id, p.status, p.merged_into FROM chain c JOIN product_requests p ON p.id = c.merged_into)
     SELECT id, status FROM chain WHERE merged_into IS NULL`,
  ),
  // By product_requests_merged; sorts the duplicates of one request.
  mergedInto: db.prepare<[string, number], RequestRow>(
    `SELECT ${REQUEST} WHERE r.merged_into = ? ORDER BY r.id DESC LIMIT ?`,
  ),
  // By the primary key.
  update: db.prepare<[Change]>(
    `UPDATE product_requests SET status = @status, note = @note, merged_into = @mergedInto, updated_at = @updatedAt
     WHERE id = @id`,
  ),
  all: { older: walk(db, "older", false), newer: walk(db, "newer", false) },
  ofStatus: { older: walk(db, "older", true), newer: walk(db, "newer", true) },
  // By installation_keys' primary key.
  key: db.prepare<[string], Buffer>("SELECT key FROM installation_keys WHERE purpose = ?").pluck(),
  insertKey: db.prepare<[string, Buffer, number]>(
    "INSERT INTO installation_keys (purpose, key, created_at) VALUES (?, ?, ?)",
  ),
}));
