import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { knownPolicy } from "./policy.ts";
import type { SessionRow } from "./rows.ts";
import type { SentPrompt, SessionHead } from "./session-head.ts";
import { type Capture, type CaptureParts, chosenAgents, isConnected, openCapture } from "./state.ts";
import { Sweep } from "./sweep.ts";
import { readableSince } from "./wrong-clock.ts";

/** A session as it would leave the machine. */
export interface Scanned {
  readonly id: string;
  readonly agent: string;
  readonly repo: string;
  readonly title: string | null;
  readonly startedAt: string | null;
  readonly endedAt: string | null;
  readonly prompts: number;
  readonly files: number;
  readonly commits: number;
  readonly entries: number;
  readonly bytes: number;
  /** Secrets that were taken out. */
  readonly redacted: number;
  readonly usage: {
    readonly input: number;
    readonly output: number;
    readonly cacheWrite: number;
    readonly cacheRead: number;
  };
  /** The documents themselves, redacted and cut: one for each entry and span. None where they were not asked for. */
  readonly documents: readonly unknown[];
}

export interface ScanOptions {
  /** Milliseconds since the epoch. */
  readonly since: number;
  /** Those that connecting chose where undefined. */
  readonly agents?: readonly string[] | undefined;
  readonly onProgress?: (share: number) => void;
  /** Whether the documents are wanted, which may be as large as all transcripts. */
  readonly isWhole?: boolean;
  /** How much is read before it stops. */
  readonly maxBytes?: number;
}

/**
 * Reads what would be sent, session by session, under the policy that this machine knows. Sends and remembers nothing: it works on a
 * database of its own, which is removed afterwards.
 * @returns false when there was more than `maxBytes`: the last session may be cut short, and later ones are missing
 */
export async function scan(
  parts: CaptureParts,
  options: ScanOptions,
  take: (session: Scanned) => void,
): Promise<boolean> {
  const terms = termsOf(parts);
  if (terms.mode === "off") return true;
  const folder = mkdtempSync(join(tmpdir(), "reckon-scan-"));
  const { machine } = parts;
  const capture = openCapture({
    ...parts,
    machine: { ...machine, env: { ...machine.env, RECKON_AGENT_HOME: folder } },
  });
  try {
    dropNames(folder, machine.platform);
    for (const { since, until } of terms.quiet) capture.rows.openQuiet.run(since, until, "ended");
    const { agents = terms.agents, onProgress, isWhole = false, maxBytes } = options;
    const sweep = new Sweep(capture, { agents, onProgress, maxOutboxBytes: maxBytes }, undefined);
    await sweep.run({ mode: terms.mode, since: Math.max(options.since, terms.since) });
    for (const row of capture.rows.recentSessions.all(0)) if (row.revision > 0) take(scanned(capture, row, isWhole));
    return !sweep.isFull;
  } finally {
    capture.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** What may leave this machine; of one that is not connected, what the usual policy allows. */
function termsOf(parts: CaptureParts) {
  if (!isConnected(parts)) return { mode: "redacted", since: 0, agents: undefined, quiet: [] } as const;
  const capture = openCapture(parts);
  try {
    return {
      mode: knownPolicy(capture)?.captureMode ?? "redacted",
      since: readableSince(capture)?.since ?? 0,
      agents: chosenAgents(capture),
      quiet: capture.rows.quiet.all(),
    };
  } finally {
    capture.close();
  }
}

/** Removes the names of open files, so that a scan that is killed leaves nothing of what it read. Windows keeps open files. */
function dropNames(folder: string, platform: NodeJS.Platform): void {
  for (const { name } of readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isFile()))
    if (platform !== "win32") rmSync(join(folder, name));
}

const REDACTED = /\[REDACTED:/g;

const USAGE = [
  ["input", "input_tokens"],
  ["output", "output_tokens"],
  ["cacheWrite", "cache_creation_input_tokens"],
  ["cacheRead", "cache_read_input_tokens"],
] as const;

function scanned({ rows }: Capture, row: SessionRow, isWhole: boolean): Scanned {
  const head = JSON.parse(row.head) as SessionHead;
  const usage = { input: 0, output: 0, cacheWrite: 0, cacheRead: 0 };
  let [entries, bytes, redacted] = [0, 0, 0];
  const documents: unknown[] = [];
  // One after the other: a session may be larger than what may be held.
  const count = (text: string): unknown => {
    bytes += Buffer.byteLength(text);
    redacted += text.match(REDACTED)?.length ?? 0;
    const document: unknown = JSON.parse(text);
    if (isWhole) documents.push(document);
    return document;
  };
  for (const text of rows.entriesOfSession.iterate(row.repo, row.id)) {
    entries++;
    const { type, usage: told } = count(text) as { type?: unknown; usage?: Record<string, number> };
    if (type === "usage") for (const [member, name] of USAGE) usage[member] += told?.[name] ?? 0;
  }
  for (const { body } of rows.spansOf.iterate(row.id)) count(body);
  const first = rows.prompts.get(row.id);
  const firstPrompt = first === undefined ? undefined : (JSON.parse(first) as SentPrompt).text;
  return {
    id: row.id,
    agent: row.agent,
    repo: row.repo,
    title: firstPrompt ?? head.title ?? null,
    startedAt: head.startedAt ?? null,
    endedAt: head.endedAt ?? null,
    prompts: head.prompts,
    files: head.files.length,
    commits: head.commits.length,
    entries,
    bytes,
    redacted,
    usage,
    documents,
  };
}
