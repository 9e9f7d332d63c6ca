import { type Dirent, readdirSync, realpathSync, statSync } from "node:fs";
import { basename, isAbsolute, join, relative, resolve } from "node:path";
import { AGENTS } from "../formats/agents/agents.ts";
import type { AgentFormat } from "../formats/agents/transcript.ts";
import { fail, invalid } from "../kit/problem.ts";
import { systemErrorText } from "../kit/system-error.ts";
import { lockOutPasses } from "./connect.ts";
import { Exchange } from "./exchange.ts";
import { askPolicy, knownPolicy } from "./policy.ts";
import { Recorder } from "./recorder.ts";
import { readOpencode } from "./sources/opencode.ts";
import { readSource } from "./sources/read.ts";
import { orderOf, signOfFile } from "./sources/signs.ts";
import { STORES } from "./sources/stores.ts";
import { compressedRecords, Tail } from "./sources/tail.ts";
import { type Capture, FORGOTTEN, NOT_CONNECTED, readCredentials, readSetting } from "./state.ts";
import { Room } from "./sweep.ts";

export interface Imported {
  readonly path: string;
  /** The agent whose transcript it is; null for a file that is none. */
  readonly agent: string | null;
  /** Events that were new. */
  readonly recorded: number;
  /** Why it was not read to its end; null where it was. */
  readonly problem: string | null;
}

const LOOKED_AT_RECORDS = 200;
const MAX_FILES = 100_000;
/** A byte order mark of UTF-16, read as UTF-8. */
const WIDE = "\ufffd\ufffd";
const TRANSCRIPT = /\.jsonl?(?:\.zst)?$|^opencode\.db$/;

/**
 * Records transcripts from given files into the same streams, while no pass runs. What was recorded before is recognised. From this
 * machine's own transcripts, what happened in a pause stays unread.
 * @param paths files, and folders with transcripts anywhere below
 * @param agent the agent that wrote them; without it the records tell
 * @param maxOutboxBytes bytes that may wait to be sent; what is beyond is left for another time
 * @throws Error for a path that is not there; Problem where nothing may be recorded
 */
export async function importTranscripts(
  capture: Capture,
  paths: readonly string[],
  agent: string | undefined,
  onProgress: (share: number) => void,
  maxOutboxBytes?: number,
): Promise<Imported[]> {
  const release = await lockOutPasses(capture);
  return importAlone(capture, paths, agent, onProgress, maxOutboxBytes).finally(release);
}

async function importAlone(
  ...[capture, paths, agent, onProgress, maxOutboxBytes]: Parameters<typeof importTranscripts>
): Promise<Imported[]> {
  const credentials = readCredentials(capture.places);
  if (!credentials) return fail(invalid, NOT_CONNECTED);
  const exchange = new Exchange(capture, credentials, true);
  if (exchange.mayDo("server")) await askPolicy(exchange);
  const policy = knownPolicy(capture);
  if (!policy) return fail(invalid, "the team's policy is not known yet: is the server reachable?");
  if (policy.captureMode === "off") return fail(invalid, "the team's policy is to record nothing");
  const results: Imported[] = [];
  const files = paths
    .flatMap((path) =>
      filesAt(resolve(path), (folder, error) => {
        results.push({ path: folder, agent: null, recorded: 0, problem: reasonOf(error) });
      }),
    )
    .slice(0, MAX_FILES)
    .map((path) => {
      const sign = signOfFile(path);
      return { path, order: sign ? orderOf(path, sign) : 0 };
    })
    // Older files first, as in a sweep: by its name, or copied last, a fork's file could come before the one that it was forked from.
    .sort((one, other) => one.order - other.order);
  const room = new Room(capture, exchange, maxOutboxBytes);
  for (const [i, { path }] of files.entries()) {
    const isForeign = !isOwn(capture, path);
    // As in a pass: what was read or paused before this instant may have been forgotten, and would be recorded again.
    const since = isForeign ? 0 : (readSetting<number>(capture, FORGOTTEN) ?? 0);
    const recorder = new Recorder(capture, { mode: policy.captureMode, since, isForeign });
    const read = await readOne(capture, recorder, room, path, agent);
    results.push({ path, recorded: recorder.recorded, ...read });
    onProgress((i + 1) / files.length);
  }
  return results;
}

/** Whether a transcript lies where an agent of this machine keeps its own, by whatever path it was named. */
function isOwn({ machine }: Capture, path: string): boolean {
  return STORES.some((store) => {
    try {
      const below = relative(realpathSync(store.root(machine)), realpathSync(path));
      return !below.startsWith("..") && !isAbsolute(below);
    } catch {
      // No such folder, or no such file.
      return false;
    }
  });
}

/** Reads one file. A file that cannot be read does not stop the others; an error of our own database does. */
async function readOne(
  capture: Capture,
  recorder: Recorder,
  room: Room,
  path: string,
  agent: string | undefined,
): Promise<Pick<Imported, "agent" | "problem">> {
  let format: AgentFormat | undefined;
  const isDatabase = path.endsWith(".db");
  try {
    const records = await firstRecords(path);
    if (records[0]?.startsWith(WIDE)) throw new Error(`it is UTF-16, as of PowerShell's ">": write it as UTF-8`);
    const writer = isDatabase ? "opencode" : agent;
    format = writer === undefined ? formatOf(path, records) : AGENTS.find((each) => each.agent === writer);
    if (format) {
      const found = { agent: format.agent, path, place: placeOf(path) };
      const onBytes = (bytes: number) => {
        room.read += bytes;
      };
      const reading = { capture, recorder, format, onBytes, goOn: () => room.isThere() };
      if (await room.isThere())
        await (isDatabase ? readOpencode : readSource)(reading, found, capture.rows.source.get(path));
      if (room.isFull)
        throw new Error("too much waits to be sent: import it again once the server has taken some of it");
    }
    return { agent: format?.agent ?? null, problem: null };
  } catch (error) {
    if (String((error as NodeJS.ErrnoException).code).startsWith("SQLITE_")) throw error;
    return { agent: format?.agent ?? null, problem: reasonOf(error) };
  }
}

const reasonOf = (error: unknown) => systemErrorText(error) ?? (error as Error).message;

/** The end of a path with its folders: a sub-agent's transcript is known by its folder. */
const placeOf = (path: string) => path.split(/[\\/]/).slice(-4).join("/");

/**
 * The path itself where it is no folder; else the transcripts below it, through no link. @param onUnreadable told of folders that cannot be
 * read
 */
function filesAt(path: string, onUnreadable: (folder: string, error: unknown) => void): string[] {
  if (!statSync(path).isDirectory()) return [path];
  const visit = (folder: string): string[] => {
    let entries: Dirent[];
    try {
      entries = readdirSync(folder, { withFileTypes: true });
    } catch (error) {
      onUnreadable(folder, error);
      return [];
    }
    return entries.flatMap((entry) => {
      const at = join(folder, entry.name);
      if (entry.isDirectory()) return visit(at);
      return entry.isFile() && TRANSCRIPT.test(entry.name) && !entry.name.endsWith(".meta.json") ? [at] : [];
    });
  };
  return visit(path).sort();
}

/** The agent that understands the first records of a file best. */
function formatOf(path: string, records: readonly string[]): AgentFormat | undefined {
  const scores = AGENTS.map((format) => ({ format, score: scoreOf(format, path, records) }));
  const best = scores.toSorted((a, b) => b.score - a.score)[0];
  return best && best.score > 0 ? best.format : undefined;
}

function scoreOf(format: AgentFormat, path: string, records: readonly string[]): number {
  const reader = format.open({ path: placeOf(path) });
  const whole = basename(path).endsWith(".json") ? format.recordsOf?.(records.join("\n")) : undefined;
  const events = (whole ?? records).slice(0, LOOKED_AT_RECORDS).flatMap((record) => reader.read(record));
  const unknown = events.filter(({ type }) => type === "unknown").length;
  const readable = events.filter(({ type }) => /^(?:prompt|reply|usage)$/.test(type)).length;
  return readable - unknown;
}

async function firstRecords(path: string): Promise<string[]> {
  const records: string[] = [];
  const tail = new Tail(path);
  try {
    if (path.endsWith(".db")) return [];
    if (path.endsWith(".json")) return [tail.whole() ?? ""];
    for await (const { text } of path.endsWith(".zst") ? compressedRecords(tail) : tail.records(0))
      if (records.push(text ?? "") >= LOOKED_AT_RECORDS) break;
    return records;
  } finally {
    tail.close();
  }
}
