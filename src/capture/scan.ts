import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SessionRow } from "./rows.ts";
import type { SessionHead } from "./session-head.ts";
import { type Capture, type CaptureParts, openCapture } from "./state.ts";
import { Sweep } from "./sweep.ts";
import type { CaptureMode } from "./texts.ts";

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
  /** The documents themselves, redacted and cut: one for each entry and span. */
  readonly documents: readonly unknown[];
}

export interface ScanOptions {
  /** Milliseconds since the epoch. */
  readonly since: number;
  readonly mode: CaptureMode;
  readonly agents?: readonly string[] | undefined;
  readonly onProgress?: (share: number) => void;
}

/**
 * Reads what would be sent, session by session, without sending or remembering anything: on a database of its own, which goes with it.
 */
export async function scan(parts: CaptureParts, options: ScanOptions, take: (session: Scanned) => void): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "reckon-scan-"));
  const { machine } = parts;
  const capture = openCapture({
    ...parts,
    machine: { ...machine, env: { ...machine.env, RECKON_AGENT_HOME: folder } },
  });
  try {
    const { agents, onProgress, mode, since } = options;
    await new Sweep(capture, { agents, onProgress }, undefined).run({ mode, since, quiet: [] });
    for (const row of capture.rows.recentSessions.all(0)) if (row.revision > 0) take(scanned(capture, row));
  } finally {
    capture.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

const REDACTED = /\[REDACTED:/g;

function scanned({ rows }: Capture, row: SessionRow): Scanned {
  const head = JSON.parse(row.head) as SessionHead;
  const spans = rows.spansOf.all(row.id).map(({ body }) => body);
  const entries = rows.entriesOfSession.all(row.repo, row.id);
  const texts = [...entries, ...spans];
  const usages = entries.map((text) => JSON.parse(text)).filter(({ type }) => type === "usage");
  const sum = (member: string) => usages.reduce((total, { usage }) => total + (usage[member] ?? 0), 0);
  return {
    id: row.id,
    agent: row.agent,
    repo: row.repo,
    title: head.prompts[0]?.text ?? head.title ?? null,
    startedAt: head.startedAt ?? null,
    endedAt: head.endedAt ?? null,
    prompts: head.prompts.length,
    files: head.files.length,
    commits: head.commits.length,
    entries: entries.length,
    bytes: texts.reduce((total, text) => total + Buffer.byteLength(text), 0),
    redacted: texts.reduce((total, text) => total + (text.match(REDACTED)?.length ?? 0), 0),
    usage: {
      input: sum("input_tokens"),
      output: sum("output_tokens"),
      cacheWrite: sum("cache_creation_input_tokens"),
      cacheRead: sum("cache_read_input_tokens"),
    },
    documents: texts.map((text) => JSON.parse(text)),
  };
}
