import { createHash } from "node:crypto";
import { copyFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { expect } from "vitest";
import { entriesOf } from "./entries.ts";
import { newFolder } from "./folder.ts";
import { startInstance } from "./instance.ts";

interface TelemetryBatch {
  readonly repoKey: string;
  readonly entries: readonly { readonly seq: number; readonly payload: object; readonly clientTimestamp?: string }[];
}

/** Makes of a database, in SQL, one from before brains and documents of spans were compressed. */
export const WITHOUT_BLOCKS = `
  DROP INDEX brain_blobs_unsealed; DROP INDEX brain_blobs_by_block; DROP TABLE brain_blocks;
  ALTER TABLE brain_blobs DROP COLUMN block_id; ALTER TABLE brain_blobs DROP COLUMN block_at;
  DROP TRIGGER trace_spans_replaced; DROP TABLE trace_span_blocks;
  ALTER TABLE trace_spans DROP COLUMN block_id; ALTER TABLE trace_spans DROP COLUMN block_at; ALTER TABLE trace_spans DROP COLUMN bytes;
  DROP INDEX trace_sessions_unsealed; ALTER TABLE trace_sessions DROP COLUMN unsealed_since;`;

/**
 * A data directory as the program of the first schema left it: a team, its device and a delivery of each kind in a ledger that
 * verifies, and the signing key. Removed with the test.
 * @param more telemetry that came after the first entry
 */
export async function firstSchemaDirectory(more: readonly TelemetryBatch[] = []): Promise<string> {
  const t = await startInstance();
  const { token } = await t.device(await t.team({ name: "Acme" }));
  const deliver = async (path: string, json: object) => expect((await t.post(path, { token, json })).status).toBe(200);
  await deliver("/api/telemetry/ingest", { repoKey: "r", entries: [{ seq: 1, payload: { a: "prompt" } }] });
  for (const batch of more) await deliver("/api/telemetry/ingest", batch);
  await deliver("/api/brain/ingest", { repoKey: "r", version: 1, files: [{ path: "a.md", content: "# A" }] });
  await deliver("/api/agent-traces/ingest", { repoKey: "r", sessions: [{ outcome: "ok", spans: [{}] }] });
  await t.close();

  const directory = newFolder();
  copyFileSync(join(t.directory, "signing-key.pem"), join(directory, "signing-key.pem"));
  const db = new Sqlite(join(directory, "reckon.db"));
  db.exec(readFileSync(join(import.meta.dirname, "schema-1.sql"), "utf8"));
  db.prepare("ATTACH ? AS made").run(join(t.directory, "reckon.db"));
  for (const name of db
    .prepare("SELECT name FROM main.sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY rowid")
    .pluck()
    .all() as string[]) {
    if (name === "telemetry_entries") {
      const insert = db.prepare("INSERT INTO main.telemetry_entries VALUES (?, ?, ?, ?, ?, ?)");
      const made = new Sqlite(join(t.directory, "reckon.db"), { readonly: true });
      for (const row of entriesOf(made)) insert.run(...row);
      made.close();
      continue;
    }
    const columns = (db.pragma(`main.table_info(${name})`) as { name: string }[]).map((one) => one.name).join(", ");
    // There was no tree: every delivery was chained.
    const values = name === "deliveries" ? columns.replace("chain_sha256", "x''") : columns;
    db.exec(`INSERT INTO main.${name} (${columns}) SELECT ${values} FROM made.${name}`);
  }
  db.exec("DETACH made");
  chainAsThen(db);
  db.pragma(`application_id = ${0x524b4f4e}`);
  db.pragma("user_version = 1");
  db.pragma("journal_mode = WAL");
  db.close();
  return directory;
}

const DELIVERED = [
  "telemetry_entries",
  "telemetry_conflicts",
  "brain_snapshots",
  "trace_sessions",
  "trace_spans",
  "trace_labels",
];

/** What a delivery's digest was taken over then. */
function contentAsThen(db: Sqlite.Database, id: unknown, kind: unknown): Buffer | undefined {
  const digest = (...parts: (string | Buffer)[]) =>
    parts.reduce((hash, part) => hash.update(part), createHash("sha256")).digest();
  if (kind === "telemetry") {
    const textsIn = (table: string) => {
      const select = `SELECT seq, client_timestamp, payload FROM main.${table} WHERE delivery_id = ? ORDER BY id`;
      const found = db.prepare(select).raw().all(id) as unknown[][];
      return found.map((row) => `${row.map((value) => value ?? "").join("\0")}\0`);
    };
    return digest([...textsIn("telemetry_entries"), ...textsIn("telemetry_conflicts")].join(""));
  }
  const brain = `SELECT m.sha256, s.version || ' accepted' FROM main.brain_snapshots s JOIN main.brain_manifests m ON m.id = s.manifest_id
    WHERE s.delivery_id = ?`;
  if (kind === "brain") return digest(...(db.prepare(brain).raw().get(id) as [Buffer, string]));
  return undefined;
}

/** Deliveries told of no capture mode then, and neither did their digests; they were numbered by themselves. */
function chainAsThen(db: Sqlite.Database): void {
  db.pragma("foreign_keys = OFF");
  const first = (db.prepare("SELECT min(id) FROM main.deliveries").pluck().get() as number) - 1;
  for (const table of DELIVERED) db.exec(`UPDATE main.${table} SET delivery_id = delivery_id - ${first}`);
  db.exec(`UPDATE main.deliveries SET id = id - ${first}`);
  let chain = Buffer.alloc(32);
  const facts = "id, team_id, device_id, kind, repo_key, mode, received_at, items, redacted, flagged";
  for (const row of db.prepare(`SELECT ${facts}, content_sha256 FROM main.deliveries ORDER BY id`).raw().all()) {
    const told = row as unknown[];
    const [id, , , kind] = told;
    const content = contentAsThen(db, id, kind) ?? (told.at(-1) as Buffer);
    told.pop();
    db.prepare("UPDATE main.deliveries SET content_sha256 = ? WHERE id = ?").run(content, id);
    chain = createHash("sha256").update(chain).update(content).update(JSON.stringify(told)).digest();
    db.prepare("UPDATE main.deliveries SET chain_sha256 = ? WHERE id = ?").run(chain, told[0]);
  }
}
