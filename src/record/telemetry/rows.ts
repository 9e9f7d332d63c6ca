import { statements } from "../../platform/store/store.ts";
import type { Entry, Gap } from "./rules.ts";

export interface StreamRow {
  readonly id: number;
  readonly teamId: string;
  readonly maxSeq: number;
}

/** An entry by its seq. */
export interface StoredEntry extends Omit<Entry, "seq"> {
  readonly deliveryId: number;
}

/** An entry, or evidence of a conflict, as it is stored. */
export interface StoredEntryRow extends Entry {
  readonly id: number;
  readonly streamId: number;
  readonly deliveryId: number;
}

/** An entry whose payload may tell of usage or cost, with what its stream says of it. */
export interface CandidateRow {
  readonly id: number;
  readonly teamId: string;
  readonly deviceId: string;
  readonly repoKey: string;
  readonly deliveryId: number;
  readonly clientTimestamp: string | null;
  readonly payload: string;
}

const inOrder = (table: string) =>
  `SELECT id, stream_id AS streamId, delivery_id AS deliveryId, seq, client_timestamp AS clientTimestamp, payload FROM ${table} ORDER BY id`;

type Column = number | string | null;

/** Entries written by one statement: a tenth faster than one by one. */
const ROWS_A_STATEMENT = 50;
const insertOf = (count: number) =>
  `INSERT INTO telemetry_entries (stream_id, seq, delivery_id, client_timestamp, payload) VALUES ${Array(count).fill("(?, ?, ?, ?, ?)").join(", ")}`;

export const rows = statements((db) => {
  const insertMany = db.prepare<[Column[]]>(insertOf(ROWS_A_STATEMENT));
  const insertOne = db.prepare<[number, number, number, string | null, string]>(insertOf(1));
  return {
    // By telemetry_streams' unique index (device_id, repo_key).
    stream: db.prepare<[string, string], StreamRow>(
      "SELECT id, team_id AS teamId, max_seq AS maxSeq FROM telemetry_streams WHERE device_id = ? AND repo_key = ?",
    ),
    insertStream: db.prepare<[string, string, string, number, number, number]>(
      `INSERT INTO telemetry_streams (team_id, device_id, repo_key, max_seq, entry_count, conflict_count, created_at, updated_at)
       VALUES (?, ?, ?, ?, 0, 0, ?, ?)`,
    ),
    updateStream: db.prepare<[number, number, number, number, number]>(
      `UPDATE telemetry_streams SET max_seq = ?, entry_count = entry_count + ?, conflict_count = conflict_count + ?, updated_at = ? WHERE id = ?`,
    ),
    // By telemetry_entries_by_seq.
    entry: db.prepare<[number, number], StoredEntry>(
      "SELECT delivery_id AS deliveryId, client_timestamp AS clientTimestamp, payload FROM telemetry_entries WHERE stream_id = ? AND seq = ?",
    ),
    insertConflict: db.prepare<[number, number, number, string | null, string, Buffer]>(
      `INSERT INTO telemetry_conflicts (stream_id, seq, delivery_id, client_timestamp, payload, content_sha256) VALUES (?, ?, ?, ?, ?, ?)`,
    ),
    // By the unique index (stream_id, seq, content_sha256).
    hasConflict: db
      .prepare<[number, number, Buffer], number>(
        "SELECT 1 FROM telemetry_conflicts WHERE stream_id = ? AND seq = ? AND content_sha256 = ?",
      )
      .pluck(),
    insertGap: db.prepare<[number, number, number]>(
      "INSERT INTO telemetry_gaps (stream_id, from_seq, to_seq) VALUES (?, ?, ?)",
    ),
    // By the primary key (stream_id, from_seq), downward from the seq.
    gapAround: db.prepare<[number, number, number], Gap>(
      `SELECT from_seq AS "from", to_seq AS "to" FROM telemetry_gaps WHERE stream_id = ? AND from_seq <= ? AND to_seq >= ? ORDER BY from_seq DESC LIMIT 1`,
    ),
    deleteGap: db.prepare<[number, number]>("DELETE FROM telemetry_gaps WHERE stream_id = ? AND from_seq = ?"),
    // Both in the order of ids, which is the order of deliveries.
    entriesByDelivery: db.prepare<[], StoredEntryRow>(inOrder("telemetry_entries")),
    conflictsByDelivery: db.prepare<[], StoredEntryRow>(inOrder("telemetry_conflicts")),
    // Streams whose highest number is not that of their last entry, which is found by telemetry_entries_by_seq, from its end.
    streamsAstray: db.prepare<[], { id: number; maxSeq: number; storedSeq: number; deliveryId: number }>(
      `SELECT s.id, s.max_seq AS maxSeq, coalesce(e.seq, 0) AS storedSeq, coalesce(e.delivery_id, 0) AS deliveryId
       FROM telemetry_streams s LEFT JOIN telemetry_entries e
         ON e.stream_id = s.id AND e.seq = (SELECT max(seq) FROM telemetry_entries WHERE stream_id = s.id)
       WHERE s.max_seq <> coalesce(e.seq, 0)`,
    ),

    // Both by primary key; streams by theirs.
    endAfter: db
      .prepare<[number, number], number | null>(
        "SELECT max(id) FROM (SELECT id FROM telemetry_entries WHERE id > ? ORDER BY id LIMIT ?)",
      )
      .pluck(),
    usageCandidates: db.prepare<[number, number], CandidateRow>(
      `SELECT e.id, s.team_id AS teamId, s.device_id AS deviceId, s.repo_key AS repoKey, e.delivery_id AS deliveryId,
         e.client_timestamp AS clientTimestamp, e.payload
       FROM telemetry_entries e CROSS JOIN telemetry_streams s ON s.id = e.stream_id
       WHERE e.id > ? AND e.id <= ? AND (instr(e.payload, 'usage') OR instr(e.payload, 'costUsd')) ORDER BY e.id`,
    ),
    // The end of the table's own b-tree.
    lastEntry: db.prepare<[], number | null>("SELECT max(id) FROM telemetry_entries").pluck(),

    insertEntries(streamId: number, deliveryId: number, entries: readonly Entry[]): void {
      let at = 0;
      for (; at + ROWS_A_STATEMENT <= entries.length; at += ROWS_A_STATEMENT) {
        const values: Column[] = [];
        for (let i = at; i < at + ROWS_A_STATEMENT; i++) push(values, streamId, deliveryId, entries[i] as Entry);
        insertMany.run(values);
      }
      for (; at < entries.length; at++) {
        const { seq, clientTimestamp, payload } = entries[at] as Entry;
        insertOne.run(streamId, seq, deliveryId, clientTimestamp, payload);
      }
    },
  };
});

function push(values: Column[], streamId: number, deliveryId: number, { seq, clientTimestamp, payload }: Entry): void {
  values.push(streamId, seq, deliveryId, clientTimestamp, payload);
}
