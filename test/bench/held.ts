import { randomBytes } from "node:crypto";
import { systemClock } from "../../src/kit/clock.ts";
import { openStore } from "../../src/platform/store/store.ts";
import { pack } from "../../src/record/telemetry/packed.ts";
import { drive, requestBytes } from "./load.ts";
import { TELEMETRY } from "./probe.ts";
import { bindDevices, idle, type Program, pause, startReckon } from "./servers.ts";
import { randomOf, sessionOf, telemetryPayload, Vocabulary } from "./text.ts";

/* Data directories that hold much already. */

/** Entries of a delivery. */
export const DELIVERY_ENTRIES = 100;
const STREAM_ENTRIES = 50_000;
const SAMPLES = 500;
/** What each entry has of its own in a sample. */
const SESSION = "ses_";
const MESSAGE = /"msg_[0-9a-f]*"/;

const instant = (i: number) => new Date(Date.UTC(2026, 10, 21, 8) + i * 731).toISOString();

/** How much there is by now. */
export interface Filled {
  readonly entries: number;
  readonly bytes: number;
}

/**
 * Fills a database of the real schema with telemetry, through SQL alone: nothing is derived from it yet, and the log does not verify.
 * @param isFull asked after every 50,000 entries, which are a stream's
 * @param withUsage whether a quarter of them tell of usage, from which spend is derived
 */
export async function fillDirectly(
  directory: string,
  isFull: (filled: Filled) => boolean,
  withUsage = true,
): Promise<Filled> {
  await bindDevices(directory, 1);
  const store = openStore(directory, { now: systemClock.now });
  const { db } = store;
  // Nothing here need survive a power cut, and a write-ahead log would hold it all a second time.
  if (db.pragma("journal_mode = DELETE", { simple: true }) !== "delete") throw new Error("the database is in use");
  db.pragma("synchronous = OFF");
  const words = new Vocabulary(1_000);
  const next = randomOf(1);
  const samples = Array.from({ length: SAMPLES }, () => telemetryPayload(words, next, SESSION))
    .filter(({ usage }) => withUsage || !usage)
    .map((payload) => JSON.stringify(payload));
  const add = inserts(db);
  const pages = () =>
    Number(db.pragma("page_count", { simple: true })) * Number(db.pragma("page_size", { simple: true }));
  const filled = { entries: 0, bytes: 0 };
  for (let stream = 1; !isFull(filled); stream++) {
    db.transaction(() => {
      add.stream.run(stream, stream);
      const owner = Number(add.deliveryStream.run(stream).lastInsertRowid);
      for (let seq = 1; seq <= STREAM_ENTRIES; seq += DELIVERY_ENTRIES) {
        const entries = Array.from({ length: DELIVERY_ENTRIES }, (_, i) => ({
          seq: seq + i,
          clientTimestamp: instant(seq + i),
          payload: (samples[(seq + i) % samples.length] as string)
            .replace(SESSION, sessionOf(stream, seq + i))
            .replace(MESSAGE, `"msg_${stream}_${seq + i}"`),
        }));
        const { texts } = pack(entries);
        const id = Number(add.leaf.run(randomBytes(32)).lastInsertRowid);
        const hashes = [randomBytes(32), randomBytes(32), randomBytes(32)];
        add.delivery.run(id, stream, systemClock.now(), DELIVERY_ENTRIES, owner, ...hashes);
        add.segment.run(stream, seq, seq + DELIVERY_ENTRIES - 1, id, texts.length, texts);
      }
    })();
    filled.entries += STREAM_ENTRIES;
    filled.bytes = pages();
    // Lets a signal through.
    await pause(0);
  }
  db.pragma("synchronous = FULL");
  db.pragma("journal_mode = WAL");
  store.close();
  return filled;
}

const repoKey = (column: string) => `'github.com/acme/service-' || ${column}`;

function inserts(db: ReturnType<typeof openStore>["db"]) {
  return {
    stream: db.prepare(
      `INSERT INTO telemetry_streams (id, team_id, device_id, repo_key, max_seq, entry_count, conflict_count, created_at, updated_at)
       SELECT ?, team_id, id, ${repoKey("?")}, ${STREAM_ENTRIES}, ${STREAM_ENTRIES}, 0, 0, 0 FROM devices LIMIT 1`,
    ),
    deliveryStream: db.prepare(
      `INSERT INTO delivery_streams (device_id, kind, repo_key, last) SELECT id, 'telemetry', ${repoKey("?")}, 0 FROM devices LIMIT 1`,
    ),
    leaf: db.prepare("INSERT INTO log_leaves (n, sha256) SELECT coalesce(max(n), 0) + 1, ? FROM log_leaves"),
    delivery: db.prepare(
      `INSERT INTO deliveries (id, team_id, device_id, kind, repo_key, received_at, items, redacted, capture_mode, stream_id,
         content_sha256, item_key, sent_sha256)
       SELECT ?, team_id, id, 'telemetry', ${repoKey("?")}, ?, ?, 0, 'full', ?, ?, ?, ? FROM devices LIMIT 1`,
    ),
    segment: db.prepare(
      `INSERT INTO telemetry_segments (stream_id, first_seq, last_seq, entries, delivery_id, bytes, texts, first_id)
       SELECT ?, ?, ?, ${DELIVERY_ENTRIES}, ?, ?, ?, coalesce(max(first_id), 1 - ${DELIVERY_ENTRIES}) + ${DELIVERY_ENTRIES}
       FROM telemetry_segments`,
    ),
  };
}

const CONNECTIONS = 16;

/** What a server was given to hold. */
export interface Held {
  /** Of the devices that delivered it. */
  readonly tokens: readonly string[];
  /** Bytes of an entry's payload as it was sent. */
  readonly payloadBytes: number;
}

/** Delivers entries to a server, as clients do, and lets it come to rest and end. @param count whole deliveries of every device */
export async function deliverEntries(directory: string, reckon: Program, count: number): Promise<Held> {
  const tokens = await bindDevices(directory, CONNECTIONS);
  const words = new Vocabulary(1_000);
  const random = tokens.map((_, i) => randomOf(i + 1));
  const turns = count / DELIVERY_ENTRIES / CONNECTIONS;
  let bytes = 0;
  const server = await startReckon(directory, reckon);
  const { answered } = await drive(server.address, CONNECTIONS, (connection, turn) => {
    if (turn >= turns) return undefined;
    const entries = Array.from({ length: DELIVERY_ENTRIES }, (_, i) => {
      const seq = turn * DELIVERY_ENTRIES + i + 1;
      const payload = {
        ...telemetryPayload(words, random[connection] as () => number, sessionOf(connection, seq)),
        // Makes it the 450 bytes that entries of agents have.
        note: words.sentence(random[connection] as () => number),
      };
      bytes += JSON.stringify(payload).length;
      return { seq, payload, clientTimestamp: instant(seq) };
    });
    const body = Buffer.from(JSON.stringify({ repoKey: "github.com/acme/shop", mode: "full", entries }));
    return requestBytes({ method: "POST", path: TELEMETRY, token: tokens[connection] as string, body });
  });
  if (answered * DELIVERY_ENTRIES !== count) throw new Error(`${answered} deliveries were taken of ${count} entries`);
  await idle(server);
  await server.stop();
  return { tokens, payloadBytes: bytes / count };
}
