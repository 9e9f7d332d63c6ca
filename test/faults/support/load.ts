import { Agent, request } from "node:http";
import { gzipSync } from "node:zlib";
import { layOutEntries } from "../../support/entries.ts";
import { type Data, openToRead } from "./data.ts";

/**
 * Capture agents at work: several keep-alive connections posting telemetry (gzip), brain snapshots and traces, each noting
 * what was acknowledged. What they noted is later held against the database.
 */

interface Batch {
  readonly path: string;
  readonly token: string;
  readonly body: Buffer;
  readonly gzip: boolean;
  /** What the database must hold once this batch was acknowledged. */
  readonly held: Held;
  acknowledged: boolean;
}

type Held =
  | {
      readonly kind: "telemetry";
      readonly deviceId: string;
      readonly repoKey: string;
      readonly entries: readonly { readonly seq: number; readonly payload: string }[];
    }
  | {
      readonly kind: "brain";
      readonly deviceId: string;
      readonly repoKey: string;
      readonly version: number;
      readonly content: string;
    }
  | { readonly kind: "traces"; readonly deviceId: string; readonly session: string; readonly spans: number };

const KINDS = ["telemetry", "telemetry", "brain", "traces"] as const;

function makeBatch(
  kind: Held["kind"],
  device: { deviceId: string; token: string },
  stream: string,
  number: number,
): Batch {
  const common = { token: device.token, acknowledged: false, gzip: kind === "telemetry" };
  const { deviceId } = device;
  if (kind === "telemetry") {
    const entries = Array.from({ length: 20 }, (_, i) => {
      const seq = number * 20 + i + 1;
      return { seq, payload: `{"type":"tool", "n":${seq}.0, "stream":"${stream}", "pad":"${"x".repeat(seq % 300)}"}` };
    });
    const text = entries.map(({ seq, payload }) => `{"seq":${seq},"payload":${payload}}`).join(",");
    const body = gzipSync(`{"repoKey":"${stream}","entries":[${text}]}`, { level: 1 });
    return { ...common, path: "/api/telemetry/ingest", body, held: { kind, deviceId, repoKey: stream, entries } };
  }
  if (kind === "brain") {
    const version = number + 1;
    const content = `# Notes of ${stream}\n\nState ${version}.\n${"line of text\n".repeat(version % 50)}`;
    const files = [
      { path: "notes.md", content },
      { path: "same.md", content: "# Same\n" },
    ];
    const body = Buffer.from(JSON.stringify({ version, repoKey: stream, files }));
    return { ...common, path: "/api/brain/ingest", body, held: { kind, deviceId, repoKey: stream, version, content } };
  }
  const session = `${stream}-${number}`;
  const spans = Array.from({ length: 5 }, (_, i) => ({ id: `span-${i}`, name: "edit", n: number }));
  const body = Buffer.from(JSON.stringify({ repoKey: stream, sessions: [{ id: session, outcome: "ok", spans }] }));
  return { ...common, path: "/api/agent-traces/ingest", body, held: { kind, deviceId, session, spans: spans.length } };
}

/** Posts on a connection. @returns status and body, or undefined when the connection broke */
function post(agent: Agent, port: number, batch: Batch): Promise<{ status: number; body: string } | undefined> {
  return new Promise((resolve) => {
    const headers = {
      authorization: `Bearer ${batch.token}`,
      "content-type": "application/json",
      "content-length": batch.body.length,
      ...(batch.gzip ? { "content-encoding": "gzip" } : {}),
    };
    const sent = request({ port, host: "127.0.0.1", path: batch.path, method: "POST", agent, headers }, (reply) => {
      let body = "";
      reply.setEncoding("utf8");
      reply.on("data", (text: string) => {
        body += text;
      });
      reply.on("error", () => resolve(undefined));
      reply.on("close", () => resolve(reply.complete ? { status: reply.statusCode as number, body } : undefined));
    });
    sent.on("error", () => resolve(undefined));
    sent.end(batch.body);
  });
}

/** What must be in the environment of a server under load: quotas out of the way. */
export const LOAD_ENV = { RECKON_LIMIT_TELEMETRY: "off", RECKON_LIMIT_BRAIN: "off", RECKON_LIMIT_TRACES: "off" };

export class Load {
  readonly batches: Batch[] = [];
  /** Replies that were neither 200 nor a broken connection. */
  readonly odd: string[] = [];
  readonly #data: Data;
  readonly #name: string;
  #running = false;
  #workers: Promise<void>[] = [];
  #acknowledged = 0;
  #awaited: { count: number; resolve: () => void } | undefined;

  /** @param name keeps the streams of several loads on one directory apart */
  constructor(data: Data, name: string) {
    this.#data = data;
    this.#name = name;
  }

  get acknowledged(): number {
    return this.#acknowledged;
  }

  start(port: number, connections = 8): void {
    this.#running = true;
    this.#workers = Array.from({ length: connections }, (_, i) => this.#work(port, i));
  }

  /** Until so many batches were acknowledged. */
  reached(count: number): Promise<void> {
    return new Promise((resolve) => {
      this.#awaited = { count, resolve };
    });
  }

  /** Lets the requests in flight end, by reply or broken connection. */
  async stop(): Promise<void> {
    this.#running = false;
    await Promise.all(this.#workers);
  }

  async #work(port: number, i: number): Promise<void> {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const kind = KINDS[i % KINDS.length] as Held["kind"];
    const device = this.#data.devices[i % this.#data.devices.length] as Data["devices"][number];
    for (let number = 0; this.#running; number++) {
      const batch = makeBatch(kind, device, `${this.#name}-${i}`, number);
      this.batches.push(batch);
      const reply = await post(agent, port, batch);
      if (!reply) break;
      if (reply.status !== 200) {
        this.odd.push(`${batch.path} ${reply.status} ${reply.body}`);
        if (reply.status !== 503) break;
        continue;
      }
      batch.acknowledged = true;
      if (++this.#acknowledged >= (this.#awaited?.count ?? Infinity)) this.#awaited?.resolve();
    }
    agent.destroy();
  }

  /**
   * Holds what was acknowledged against the database.
   * @returns what is missing or altered, and how many batches that were never acknowledged are stored nonetheless
   */
  compare(): { lost: string[]; unasked: number } {
    const lost: string[] = [];
    const stored = storedIn(this.#data.directory);
    let unasked = 0;
    for (const batch of this.batches) {
      const missing = stored.missing(batch.held);
      if (batch.acknowledged && missing) lost.push(missing);
      if (!batch.acknowledged && !missing) unasked++;
    }
    stored.close();
    return { lost, unasked };
  }

  /**
   * Sends everything again, in order, as an agent does that is not sure.
   * @returns what went wrong: a refusal, a flag, or an acceptance of what was stored already
   */
  async resend(port: number): Promise<string[]> {
    const wrong: string[] = [];
    const before = storedIn(this.#data.directory);
    const known = new Set(this.batches.filter((batch) => !before.missing(batch.held)));
    before.close();
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    for (const batch of this.batches) {
      const reply = await post(agent, port, batch);
      const body = reply?.status === 200 ? JSON.parse(reply.body) : undefined;
      const { held } = batch;
      if (!body) wrong.push(`${batch.path} ${reply?.status} ${reply?.body}`);
      else if (held.kind === "telemetry") {
        const expected = known.has(batch) ? 0 : held.entries.length;
        if (body.accepted !== expected || body.flagged !== null)
          wrong.push(`telemetry ${JSON.stringify(body)}, expected ${expected} accepted`);
      } else if (held.kind === "brain" && (body.ledger.rollback || body.ledger.gap))
        wrong.push(`brain ${JSON.stringify(body)}`);
    }
    agent.destroy();
    return wrong;
  }
}

/** Answers what is missing in a database of what should be held. */
function storedIn(directory: string): { missing(held: Held): string | undefined; close(): void } {
  const db = openToRead(directory);
  layOutEntries(db);
  const entry = db
    .prepare<[string, string, number], string>(
      `SELECT payload FROM telemetry_entries e JOIN telemetry_streams s ON s.id = e.stream_id
     WHERE s.device_id = ? AND s.repo_key = ? AND e.seq = ?`,
    )
    .pluck();
  const file = db
    .prepare<[string, string, number], string>(
      `SELECT m.entries FROM brain_snapshots n JOIN brain_streams s ON s.id = n.stream_id JOIN brain_manifests m ON m.id = n.manifest_id
     WHERE s.device_id = ? AND s.repo_key = ? AND n.version = ?`,
    )
    .pluck();
  const blob = db.prepare<[number], string>("SELECT content FROM brain_blobs WHERE id = ?").pluck();
  const spans = db
    .prepare<[string, string], number>(
      "SELECT count(*) FROM trace_spans p JOIN trace_sessions s ON s.id = p.session_id WHERE s.device_id = ? AND s.external_id = ?",
    )
    .pluck();
  return {
    missing(held) {
      if (held.kind === "telemetry") {
        const wrong = held.entries.find(({ seq, payload }) => entry.get(held.deviceId, held.repoKey, seq) !== payload);
        return wrong && `entry ${wrong.seq} of ${held.repoKey}`;
      }
      if (held.kind === "brain") {
        const manifest = file.get(held.deviceId, held.repoKey, held.version);
        const id =
          manifest === undefined ? undefined : new Map(JSON.parse(manifest) as [string, number][]).get("notes.md");
        return id !== undefined && blob.get(id) === held.content
          ? undefined
          : `version ${held.version} of ${held.repoKey}`;
      }
      return spans.get(held.deviceId, held.session) === held.spans ? undefined : `session ${held.session}`;
    },
    close: () => db.close(),
  };
}
