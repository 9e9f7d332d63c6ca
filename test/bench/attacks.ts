import { connect, type Socket } from "node:net";
import { gzipSync } from "node:zlib";
import { type Address, requestBytes, Wire } from "./load.ts";
import { deliver, deliverBeside, type Stall, startProbed, TELEMETRY } from "./probe.ts";
import type { Settings } from "./run.ts";
import { bindDevices, newDirectory, type Program, pause, removeDirectory } from "./servers.ts";
import { figure, quantile, type Report } from "./table.ts";

const MIB = 1024 * 1024;
export const BRAIN = "/api/brain/ingest";
export const TRACES = "/api/agent-traces/ingest";

/** What a hostile client does, with one device's token, until it returns or is told that time is up. */
interface Attack {
  readonly name: string;
  readonly run: (target: Target) => Promise<void>;
}

interface Target {
  readonly address: Address;
  readonly token: string;
  /** How long an attack that never ends by itself goes on. */
  readonly milliseconds: number;
}

const filled = (unit: string, bytes: number) => unit.repeat(Math.ceil(bytes / unit.length)).slice(0, bytes);
const list = (unit: string, count: number) => `[${Array(count).fill(unit).join(",")}]`;

/** One request a connection, all at the same time. */
const sends = (name: string, path: string, make: () => string | Buffer, { times = 1, gzip = false } = {}): Attack => ({
  name,
  async run({ address, token }) {
    const body = Buffer.from(make());
    const request = requestBytes({ method: "POST", path, token, body: gzip ? gzipSync(body) : body, gzip });
    await Promise.all(
      Array.from({ length: times }, async () => {
        const wire = await Wire.open(address);
        // Whether it is taken or refused is not what is measured.
        await wire.ask(request).catch(() => {});
        wire.close();
      }),
    );
  },
});

/** Bodies that never end: many sockets, each short of its last byte. */
const withholds = (name: string, sockets: number, head: (token: string) => string, bytes: number): Attack => ({
  name,
  async run({ address, token, milliseconds }) {
    const request = Buffer.concat([
      Buffer.from(`${head(token)}\r\nContent-Length: ${bytes}\r\n\r\n`),
      Buffer.alloc(bytes - 1, 0x61),
    ]);
    const until = performance.now() + milliseconds;
    await Promise.all(
      Array.from({ length: sockets }, async () => {
        while (performance.now() < until) await held(connect(address), request, until);
      }),
    );
  },
});

/** Sends a request and holds its connection until the server ends it or time is up. */
function held(socket: Socket, request: Buffer, until: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => socket.destroy(), Math.max(0, until - performance.now()));
    socket.on("error", () => {});
    // A reply means that nothing more is held there; the next one tries again, a little later as a flood would be noticed.
    socket.once("data", () => setTimeout(() => socket.destroy(), 50));
    socket.once("close", () => {
      clearTimeout(timer);
      resolve();
    });
    socket.write(request);
  });
}

const oneSpan = (text: string) =>
  JSON.stringify({ sessions: [{ id: "s", outcome: "x", spans: [{ id: "a", attributes: { text } }] }] });
const inSession = (json: string) => `{"sessions":[{"id":"s","outcome":"x","spans":[],"more":${json}}]}`;
const entries = (texts: readonly string[]) =>
  JSON.stringify({ repoKey: "r", entries: texts.map((text, i) => ({ seq: i + 1, payload: { text } })) });
const brain = (contents: readonly string[]) =>
  JSON.stringify({ version: 1, repoKey: "r", files: contents.map((content, i) => ({ path: `f${i}.md`, content })) });
const filling = (unit: string, count: number, bytes: number) =>
  Array.from({ length: count }, () => filled(unit, bytes));

/**
 * A trace batch at its caps, of what agents really send.
 * @param name what its sessions' ids begin with
 * @param messageOf the message that a span of a session tells of
 */
export function fullBatch(name = "s", messageOf = (s: number, i: number) => `m-${name}-${s}-${i}`): string {
  const span = (s: number, i: number) => ({
    id: `span-${i}`,
    name: "edit",
    startedAt: "2026-11-21T08:00:00Z",
    usage: { id: messageOf(s, i), input_tokens: 10, output_tokens: 20 },
    edits: [{ path: `src/file-${i % 500}.ts`, startLine: 1, endLine: 9 }],
    attributes: { "gen_ai.request.model": "claude-opus-4-1", note: filled("some words ", 60) },
  });
  const sessions = Array.from({ length: 200 }, (_, s) => ({
    id: `${name}-${s}`,
    outcome: "success",
    startedAt: "2026-11-21T08:00:00Z",
    spans: Array.from({ length: 100 }, (_, i) => span(s, i)),
  }));
  const labels = Array.from({ length: 20_000 }, (_, i) => ({ sessionId: `${name}-${i % 200}`, name: "n", value: i }));
  return JSON.stringify({ repoKey: "r", sessions, labels });
}

const ATTACKS: readonly Attack[] = [
  withholds(
    "129 anonymous forms of 2 MiB, each short of its last byte",
    129,
    () => "POST /packs/new HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded",
    2 * MIB,
  ),
  withholds(
    "32 trace bodies of 8 MiB, each short of its last byte",
    32,
    (token) => `POST ${TRACES} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nAuthorization: Bearer ${token}`,
    8 * MIB,
  ),
  sends("a span with 8.3 MB of pass=", TRACES, () => oneSpan(filled("pass=", 8.3e6))),
  sends("a span with 8 MB of password=", TRACES, () => oneSpan(filled("password=", 8e6))),
  sends("a span with 8 MB of Kubernetes Secrets", TRACES, () => oneSpan(filled("---\nkind: Secret\n", 6.5e6))),
  sends("a brain of 7 MB of pass=", BRAIN, () => brain(filling("pass=", 7, MIB))),
  sends("telemetry of 3.9 MB of pass=", TELEMETRY, () => entries(filling("pass=", 62, 63_000))),
  sends("the same in 7 KB of gzip, 4 at once", TELEMETRY, () => entries(filling("pass=", 62, 63_000)), {
    times: 4,
    gzip: true,
  }),
  sends("a gzip bomb of 100 MB, 8 at once", TELEMETRY, () => Buffer.alloc(100 * MIB, 32), { times: 8, gzip: true }),
  sends("traces with 600,000 × [[[[[[]]]]]]", TRACES, () => inSession(list("[[[[[[]]]]]]", 600_000))),
  sends("the same, 12 at once", TRACES, () => inSession(list("[[[[[[]]]]]]", 600_000)), { times: 12 }),
  sends("4 million [ and as many ]", TRACES, () => "[".repeat(4.19e6) + "]".repeat(4.19e6)),
  sends('1.3 million {"a":', TRACES, () => '{"a":'.repeat(1.3e6)),
  sends("as many arrays as a body may hold", TRACES, () => inSession(list("[[[[[[]]]]]]", 49_000)), { times: 4 }),
  sends("as many names as a body may hold", TRACES, () =>
    inSession(`[${Array.from({ length: 120_000 }, (_, i) => `{"name ${i % 990}":{}}`).join(",")}]`),
  ),
  sends("as many ways to begin an object as a body may hold", TRACES, () =>
    inSession(`[${Array.from({ length: 120_000 }, (_, i) => `{"a${i % 150}":0,"b${i % 151}":0}`).join(",")}]`),
  ),
  sends("140,000 objects of 24,000 names", TRACES, () =>
    inSession(`[${Array.from({ length: 140_000 }, (_, i) => `{"name ${i % 24_000}":{}}`).join(",")}]`),
  ),
  sends("350,000 different names", TRACES, () =>
    inSession(`{${Array.from({ length: 350_000 }, (_, i) => `"name ${i}":0`).join(",")}}`),
  ),
  sends("170,000 empty entries", TELEMETRY, () => `{"entries":${list('{"seq":1,"payload":{}}', 170_000)}}`),
  sends("a trace batch at its caps", TRACES, () => fullBatch()),
  sends("the same on two connections", TRACES, () => fullBatch(), { times: 2 }),
  sends("a trace batch that tells of 100 messages in all of its 200 sessions", TRACES, () =>
    fullBatch("s", (_, i) => `m-${i}`),
  ),
  sends("a brain of 8 files of 1 MB of headings, 2 at once", BRAIN, () => brain(filling("# a\n", 7, MIB)), {
    times: 2,
  }),
];

/** What one attack did to others. */
interface Harm {
  readonly stall: Stall;
  readonly p99: number;
  readonly worst: number;
  readonly refused: number;
  readonly asked: number;
}

/**
 * Every known way to make one request expensive, or to keep the others out: the longest the event loop was held up, and what
 * another team's one-entry deliveries met meanwhile.
 */
export async function measureAttacks({ quick, reckon }: Settings, report: Report): Promise<void> {
  for (const attack of ATTACKS) {
    const harm = await suffer(reckon, attack, quick ? 3_000 : 12_000);
    const scenario = `attack: ${attack.name}`;
    report.result({ scenario: `${scenario}, longest stall`, unit: "ms", ours: [harm.stall.wall], aim: { below: 250 } });
    report.result({ scenario: `${scenario}, others' p99`, unit: "ms", ours: [harm.p99], aim: { below: 100 } });
    report.note(
      scenario,
      `processor time of the longest stall ${figure(harm.stall.cpu)} ms; of another team's ${harm.asked} deliveries ` +
        `${harm.refused} were refused, the slowest took ${figure(harm.worst)} ms`,
    );
  }
}

async function suffer(reckon: Program, attack: Attack, milliseconds: number): Promise<Harm> {
  const directory = newDirectory();
  const [attacker = ""] = await bindDevices(directory, 1);
  const [victim = ""] = await bindDevices(directory, 1);
  const probed = await startProbed(directory, reckon);
  const { address } = probed.server;
  // First requests compile code, which is no attack's doing.
  await deliver(address, victim, pause(500));
  probed.watch();
  const { times, refused } = await deliverBeside({ address, tokens: [victim], pace: { from: 1_000_000 } }, () =>
    attack.run({ address, token: attacker, milliseconds }),
  );
  const stall = await probed.stop();
  removeDirectory(directory);
  return { stall, p99: quantile(times, 0.99), worst: times.at(-1) ?? 0, refused, asked: times.length };
}
