import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join, resolve } from "node:path";
import { gunzipSync } from "node:zlib";
import { sha256Hex } from "../../src/kit/hash.ts";
import { databasePath } from "../../src/platform/store/store.ts";
import { textOf, turn } from "../support/turns.ts";
import { bundleClient, clientIn, startTeamServer } from "./client.ts";
import { drive, requestBytes, requireSuccess, Wire } from "./load.ts";
import type { Settings } from "./run.ts";
import {
  bindDevices,
  countRows,
  firstAnswer,
  idle,
  newDirectory,
  type Program,
  pause,
  removeDirectory,
  startReckon,
} from "./servers.ts";
import { largestTables, sealAll, usedBytes } from "./size.ts";
import { makeFiles } from "./snapshot.ts";
import { figure, median, type Report } from "./table.ts";
import { brainSection, randomOf, Vocabulary } from "./text.ts";

/* What a machine needs: measured on one that was filled with what developers' machines send, and from there reckoned up. */

const CONNECTIONS = 16;
const QUICK_ENTRIES = 40_000;
const FULL_ENTRIES = 400_000;
/** What the table supposes of a developer: as many records of transcripts, as many versions of a brain. */
const A_DAY = { records: 1_000, brains: 4 };
const DAYS_A_YEAR = 250;
const DEVELOPERS = [10, 100, 1_000, 5_000];

/** A database of some size, and what work on all of it takes. */
interface Point {
  readonly entries: number;
  readonly bytes: number;
  readonly seconds: Readonly<Record<"backup" | "verify" | "restore" | "start", number>>;
  readonly residentMb: number;
}

/** Fills a database in two steps, measures at both, which tells how straight the line is, and reckons up from the larger. */
export async function measureSizing({ quick, reckon, entries }: Settings, report: Report): Promise<void> {
  const wanted = entries ?? (quick ? QUICK_ENTRIES : FULL_ENTRIES);
  const program = await bundleClient();
  const said = await record(program, report);
  const aDay = said.entriesPerRecord * A_DAY.records;
  const directory = newDirectory();
  await pointAt(directory, { program, reckon, said: said.deliveries }, wanted / 4, report);
  const large = await pointAt(directory, { program, reckon, said: said.deliveries }, wanted, report);
  removeDirectory(directory);
  const brainBytes = await measureBrain(quick, reckon);
  report.note("sizing", `${figure(brainBytes)} B a version of a brain of which one file of 10 kB changed`);
  report.note(
    "sizing",
    `a year of ${DAYS_A_YEAR} days with ${figure(A_DAY.records)} records of transcripts and ${A_DAY.brains} versions of a brain each day; in proportion to the larger size measured, ~ where it is more`,
  );
  const head = "| developers | entries a day | disk a year | backup | verify | restore |";
  for (const row of [
    head,
    "|---|---|---|---|---|---|",
    ...DEVELOPERS.map((n) => rowOf(n, n * aDay, large, n * A_DAY.brains * brainBytes)),
  ])
    report.note("sizing", row);
}

/** Scales the measured point in proportion to the entries. What does not grow with them is small beside it, and noise is not multiplied. */
function rowOf(developers: number, aDay: number, measured: Point, brainBytesADay: number): string {
  const entries = aDay * DAYS_A_YEAR;
  const share = entries / measured.entries;
  const bytes = measured.bytes * share + DAYS_A_YEAR * brainBytesADay;
  const { backup, verify, restore } = measured.seconds;
  const times = [backup, verify, restore].map((seconds) => duration(seconds * share));
  const mark = share > 1 ? "~" : "";
  const cells = [`${figure(bytes / 1e9)} GB`, ...times].map((cell) => mark + cell);
  return `| ${[figure(developers), figure(aDay), ...cells].join(" | ")} |`;
}

const duration = (seconds: number): string => {
  if (seconds < 90) return `${figure(seconds)} s`;
  return seconds < 5_400 ? `${figure(seconds / 60)} min` : `${figure(seconds / 3_600)} h`;
};

/** What a machine sent, in its order. */
interface Said {
  readonly path: string;
  readonly body: string;
  readonly entries: number;
  readonly spans: number;
}

const KEPT = new Set(["/api/telemetry/ingest", "/api/agent-traces/ingest"]);

/** Lets the capture client read transcripts, real ones where they are at hand, and notes what it sends. */
async function record(program: string, report: Report) {
  const home = newDirectory();
  const data = process.env.RECKON_TEST_DATA ?? resolve(import.meta.dirname, "../../../shared/data");
  const real = join(data, "transcripts");
  const isReal = existsSync(real);
  const folder = isReal ? real : inventTranscripts(home);
  mkdirSync(join(home, ".claude/projects"), { recursive: true });
  const { server, url, code } = await startTeamServer();
  const proxy = await noting(url);
  const client = clientIn(program, home);
  await client.run("connect", proxy.url, code, "--agents", "claude-code", "--yes", "--json");
  await client.run("import", folder, "--json");
  await client.run("run", "--json");
  const records = recordsIn(folder);
  proxy.close();
  await server.stop();
  removeDirectory(home);
  const sum = (of: (one: Said) => number) => proxy.said.reduce((total, one) => total + of(one), 0);
  const [entries, spans, bytes] = [sum((one) => one.entries), sum((one) => one.spans), sum(({ body }) => body.length)];
  report.note(
    "sizing",
    `a machine says what the capture client read of ${figure(records)} records of ${isReal ? "real transcripts" : "transcripts made up"}: ${figure(entries)} entries and ${figure(spans)} spans, ${figure(bytes / entries)} B an entry with its spans as sent`,
  );
  return { deliveries: proxy.said, entriesPerRecord: entries / records };
}

const recordsIn = (folder: string): number =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".jsonl"))
    .reduce((sum, name) => sum + readFileSync(join(folder, name), "utf8").split("\n").length - 1, 0);

function inventTranscripts(home: string): string {
  const folder = join(home, "transcripts");
  mkdirSync(folder);
  const words = new Vocabulary(6_000);
  const next = randomOf(3);
  for (let session = 0; session < 30; session++) {
    const records = Array.from({ length: 30 }, (_, n) => {
      const [prompt, answer, output] = [20, 60, 200].map((length) => words.phrase(next, length)) as [
        string,
        string,
        string,
      ];
      return turn({ session: uuid(`${session}`), n, at: Date.now() - 86_400_000 + n * 10_000, prompt, answer, output });
    });
    writeFileSync(join(folder, `${session}.jsonl`), textOf(records.flat()));
  }
  return folder;
}

const uuid = (of: string) => sha256Hex(of).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, "$1-$2-$3-$4-$5");

/** Stands between a client and a server. */
async function noting(to: string) {
  const said: Said[] = [];
  const proxy = createServer(async (request, reply) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const sent = Buffer.concat(chunks);
    const { host: _, connection: __, ...headers } = request.headers as Record<string, string>;
    const path = request.url ?? "/";
    const answer = await fetch(to + path, {
      headers,
      method: request.method ?? "GET",
      ...(sent.length > 0 ? { body: sent } : {}),
    });
    const body = (headers["content-encoding"] === "gzip" ? gunzipSync(sent) : sent).toString();
    if (KEPT.has(path) && answer.ok) {
      const { entries = [], sessions = [] } = JSON.parse(body) as { entries?: []; sessions?: { spans: [] }[] };
      const spans = sessions.reduce((sum, session) => sum + session.spans.length, 0);
      if (entries.length + sessions.length > 0) said.push({ path, body, entries: entries.length, spans });
    }
    const { "content-length": ___, ...rest } = Object.fromEntries(answer.headers);
    reply.writeHead(answer.status, rest).end(Buffer.from(await answer.arrayBuffer()));
  }).listen(0, "127.0.0.1");
  await new Promise((done) => proxy.once("listening", done));
  const { port } = proxy.address() as { port: number };
  return { said, url: `http://127.0.0.1:${port}`, close: () => proxy.close() };
}

/** Names of sessions, messages and calls, which are other ones on each machine. */
const NAMES = /[0-9a-f]{8}(?=-[0-9a-f]{4}-[0-9a-f]{4}-)|(?<=\b(?:msg|toolu|req|call)_)[0-9A-Za-z]{8}/g;

function asSaidBy(machine: number, body: string): string {
  const own = new Map<string, string>();
  return body.replace(NAMES, (name) => {
    const other = own.get(name) ?? sha256Hex(`${machine} ${name}`).slice(0, 8);
    own.set(name, other);
    return other;
  });
}

interface Parts {
  /** The bundle that the executable is made of. */
  readonly program: string;
  readonly reckon: Program;
  readonly said: readonly Said[];
}

/** Lets further machines say it until there are as many entries. */
async function pointAt(
  directory: string,
  { program, reckon, said }: Parts,
  wanted: number,
  report: Report,
): Promise<Point> {
  const each = said.reduce((sum, { entries }) => sum + entries, 0);
  const held = existsSync(databasePath(directory)) ? countEntries(directory) : 0;
  const tokens = await bindDevices(directory, Math.ceil((wanted - held) / each));
  const server = await startReckon(directory, reckon);
  const began = performance.now();
  const { answered } = await drive(server.address, CONNECTIONS, (connection, turn) => {
    const machine = Math.floor(turn / said.length) * CONNECTIONS + connection;
    const token = tokens[machine];
    const one = said[turn % said.length];
    if (token === undefined || !one) return undefined;
    const body = Buffer.from(asSaidBy(held + machine, one.body));
    return requestBytes({ method: "POST", path: one.path, token, body });
  });
  const rate = (tokens.length * each) / ((performance.now() - began) / 1e3);
  if (answered !== tokens.length * said.length) throw new Error(`${answered} requests were answered`);
  const busyMb = server.residentMb();
  await idle(server);
  await server.stop();
  await sealAll(directory);
  const point = await measurePoint(directory, program);
  const { entries, bytes, seconds, residentMb } = point;
  report.note(
    "sizing",
    `${figure(entries)} entries of ${figure(held / each + tokens.length)} machines: ${figure(bytes / 1e6)} MB, ${figure(bytes / entries)} B an entry, sealed; backup ${figure(seconds.backup)} s, verify ${figure(seconds.verify)} s, restore ${figure(seconds.restore)} s, start ${figure(seconds.start)} s; ${figure(residentMb)} MB at rest, ${figure(busyMb)} MB after taking ${figure(rate)} entries/s; ${largestTables(directory, entries)}`,
  );
  return point;
}

const countEntries = (directory: string) => countRows(directory, "SELECT sum(entries) FROM telemetry_segments");

async function measurePoint(directory: string, program: string): Promise<Point> {
  const serve: Program = { file: process.execPath, args: [program, "serve"] };
  const starts: number[] = [];
  let residentMb = 0;
  for (let i = 0; i < 3; i++) {
    const args = (port: number) => ["--data", directory, "--port", String(port)];
    const { milliseconds, server } = await firstAnswer(serve, args, requestBytes({ path: "/api/health" }));
    starts.push(milliseconds / 1e3);
    await pause(2_000);
    await idle(server);
    residentMb = server.residentMb();
    await server.stop();
  }
  const other = newDirectory();
  const backup = join(other, "backup.db");
  const server = await startReckon(directory, serve);
  const seconds = {
    start: median(starts),
    backup: timed(program, directory, "backup", backup),
    verify: timed(program, directory, "ledger", "verify"),
    restore: timed(program, join(other, "data"), "restore", backup),
  };
  await server.stop();
  if (statSync(databasePath(join(other, "data"))).size === 0) throw new Error("nothing was restored");
  removeDirectory(other);
  return { entries: countEntries(directory), bytes: usedBytes(directory), seconds, residentMb };
}

/** @returns the seconds that a command takes */
function timed(program: string, directory: string, ...command: readonly string[]): number {
  const began = performance.now();
  execFileSync(process.execPath, [program, ...command, "--data", directory], { stdio: "ignore" });
  return (performance.now() - began) / 1e3;
}

/** Bytes that a version of a brain takes of which one file changed. */
async function measureBrain(quick: boolean, reckon: Program): Promise<number> {
  const versions = quick ? 200 : 400;
  const directory = newDirectory();
  const [token = ""] = await bindDevices(directory, 1);
  const words = new Vocabulary(8_000);
  const next = randomOf(5);
  const files = makeFiles(words, next, 40);
  const sizes: number[] = [];
  for (const upTo of [1, 1 + versions]) {
    const server = await startReckon(directory, reckon);
    const wire = await Wire.open(server.address);
    for (let version = sizes.length === 0 ? 1 : 2; version <= upTo; version++) {
      const file = files[version % files.length] as (typeof files)[number];
      file.content = `${brainSection(words, next)}\n\n${file.content}`.slice(0, 10_000);
      const body = Buffer.from(JSON.stringify({ version, repoKey: "github.com/acme/shop", files }));
      requireSuccess(await wire.ask(requestBytes({ method: "POST", path: "/api/brain/ingest", token, body })));
    }
    wire.close();
    await idle(server);
    await server.stop();
    await sealAll(directory);
    sizes.push(usedBytes(directory));
  }
  removeDirectory(directory);
  return ((sizes[1] as number) - (sizes[0] as number)) / versions;
}
