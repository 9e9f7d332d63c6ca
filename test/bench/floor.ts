/**
 * The least that could do the same job, to measure Reckon against. Started as a process of its own:
 *
 *   node floor.ts health
 *   node floor.ts ingest sync|async DIRECTORY
 *
 * Prints `{"url"}` once it answers.
 */
import { createServer, type IncomingMessage, type RequestListener } from "node:http";
import { promisify } from "node:util";
import { gunzip, gunzipSync } from "node:zlib";
import { openStore, type Store } from "../../src/platform/store/store.ts";

interface Batch {
  readonly entries: readonly { readonly seq: number; readonly payload: unknown; readonly clientTimestamp: string }[];
}

/** A constant answer: what Node itself costs. */
function health(): RequestListener {
  const body = JSON.stringify({ status: "ok", db: "up", ts: "2026-11-21T08:00:00.000Z" });
  const headers = { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(body) };
  return (_request, reply) => void reply.writeHead(200, headers).end(body);
}

/**
 * Inflates, parses and stores batches durably, through the same store: the same pragmas, group commit and checkpoints.
 * It trusts its clients: no credentials, validation, redaction or ledger. The path names the stream.
 */
function ingest(store: Store, gunzipMode: string): RequestListener {
  const inflate = gunzipMode === "async" ? promisify(gunzip) : gunzipSync;
  const insertEntries = prepareInsert(store);
  setInterval(() => store.checkpoint(), 500);
  return async (request, reply) => {
    let bytes = await readAll(request);
    if (request.headers["content-encoding"] === "gzip") {
      const inflated = inflate(bytes);
      bytes = inflated instanceof Promise ? await inflated : inflated;
    }
    const { entries } = JSON.parse(bytes.toString()) as Batch;
    const streamId = Number(request.url?.slice(1));
    await store.write(() => insertEntries(streamId, entries));
    const body = JSON.stringify({ ok: true, accepted: entries.length });
    reply.writeHead(200, { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(body) }).end(body);
  };
}

function readAll(request: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.once("end", () => resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)));
    request.once("error", reject);
  });
}

const ROWS_A_STATEMENT = 50;

/** A row an entry with a unique index, fifty rows a statement: a table of its own, so that the floor stays where it is when ours moves. */
function prepareInsert(store: Store): (streamId: number, entries: Batch["entries"]) => void {
  store.db.exec(
    `CREATE TABLE floor_entries (
       id INTEGER PRIMARY KEY, stream_id INTEGER NOT NULL, seq INTEGER NOT NULL, delivery_id INTEGER NOT NULL,
       client_timestamp TEXT, payload TEXT NOT NULL
     ) STRICT;
     CREATE UNIQUE INDEX floor_entries_by_seq ON floor_entries (stream_id, seq)`,
  );
  const insertOf = (rows: number) =>
    store.db.prepare(
      `INSERT INTO floor_entries (stream_id, seq, delivery_id, client_timestamp, payload) VALUES ${Array(rows).fill("(?, ?, ?, ?, ?)").join(", ")}`,
    );
  const insertMany = insertOf(ROWS_A_STATEMENT);
  const insertOne = insertOf(1);
  return (streamId, entries) => {
    let at = 0;
    while (at < entries.length) {
      const many = at + ROWS_A_STATEMENT <= entries.length;
      const values: (number | string)[] = [];
      for (const { seq, clientTimestamp, payload } of entries.slice(at, at + (many ? ROWS_A_STATEMENT : 1)))
        values.push(streamId, seq, 1, clientTimestamp, JSON.stringify(payload));
      (many ? insertMany : insertOne).run(values);
      at += many ? ROWS_A_STATEMENT : 1;
    }
  };
}

const [what, gunzipMode = "sync", directory = ""] = process.argv.slice(2);
const store = what === "ingest" ? openStore(directory, { now: Date.now }) : undefined;
const server = createServer({ keepAliveTimeout: 65_000 }, store ? ingest(store, gunzipMode) : health());
server.listen(0, "127.0.0.1", () => {
  const { port } = server.address() as { port: number };
  process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${port}` })}\n`);
});
process.once("SIGTERM", () => {
  store?.close();
  process.exit(0);
});
