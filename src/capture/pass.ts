import { readdirSync, rmSync, type Stats, statSync } from "node:fs";
import { join } from "node:path";
import { AGENTS } from "../formats/agents/agents.ts";
import type { AgentFormat } from "../formats/agents/transcript.ts";
import { DAY_MS } from "../kit/clock.ts";
import { tryLock } from "../platform/store/store.ts";
import { dropOldBriefings } from "./brain/briefing.ts";
import { tendBrains } from "./brain/tend.ts";
import { findCommits } from "./commits.ts";
import { knownPolicy, quietNow, type QuietReason, refreshPolicy } from "./policy.ts";
import { Recorder, type Terms } from "./recorder.ts";
import { isDue, notBefore } from "./schedule.ts";
import { Exchange, rejectionOf, rotateToken, sendAll, sendHeartbeat } from "./send.ts";
import { readSource } from "./sources/read.ts";
import { type Found, STORES } from "./sources/stores.ts";
import { type Capture, readCredentials, readSetting, writeSetting } from "./state.ts";

/** Above this nothing more is read until the server has taken some of it. */
const MAX_OUTBOX_BYTES = 512 * 1024 * 1024;
/** So much is read before it is sent, while there is a server to send it to. */
const SEND_AFTER_BYTES = 64 * 1024 * 1024;
const KEEP_SENT_MS = 7 * DAY_MS;
const KEEP_SEEN_MS = 120 * DAY_MS;
const PRUNED_AT_ONCE = 50_000;

export interface PassOptions {
  /** Ask the server even while it is being left in peace after a failure. */
  readonly force?: boolean;
  /** Told how much of what is new has been read and sent, from 0 to 1. */
  readonly onProgress?: (share: number) => void;
  readonly agents?: readonly string[] | undefined;
}

export interface PassResult {
  /** Events that were new. */
  readonly recorded: number;
  readonly sessionsSent: number;
  /** Why nothing was read. */
  readonly quiet?: QuietReason | "no-policy" | "outbox-full" | undefined;
  /** Why not everything was sent. */
  readonly stopped?: string | undefined;
  readonly retryInMs?: number | undefined;
  /** Files that could not be read, with the reason. */
  readonly unreadable: readonly { readonly path: string; readonly reason: string }[];
}

/**
 * Reads what is new in every transcript, and sends what waits.
 * @returns undefined when another pass is at work: it hears of whatever rings meanwhile
 * @throws Error when the machine is not connected
 */
export async function runPass(capture: Capture, options: PassOptions = {}): Promise<PassResult | undefined> {
  for (let result: PassResult | undefined; ; ) {
    const release = tryLock(capture.places.lock);
    if (!release) return result;
    try {
      result = await passOnce(capture, options);
      while (takeRings(capture)) result = combine(result, await passOnce(capture, options));
    } finally {
      release();
    }
    // Rung after the last look, while the lock was still held: its own process gave up.
    if (!hasRings(capture)) return result;
  }
}

const combine = (a: PassResult, b: PassResult): PassResult => ({
  ...b,
  recorded: a.recorded + b.recorded,
  sessionsSent: a.sessionsSent + b.sessionsSent,
});

const ringsIn = ({ places }: Capture) => readdirSync(places.spool).filter((name) => !name.endsWith(".tmp"));
const hasRings = (capture: Capture) => ringsIn(capture).length > 0;

/** Takes the rings of hooks away before reading, so that one which comes while reading is heard. */
function takeRings(capture: Capture): boolean {
  const rings = ringsIn(capture);
  for (const name of rings) rmSync(join(capture.places.spool, name), { force: true });
  return rings.length > 0;
}

async function passOnce(capture: Capture, options: PassOptions): Promise<PassResult> {
  const credentials = readCredentials(capture.places);
  if (!credentials) throw new Error('this machine is not connected: run "reckon agent connect URL CODE"');
  takeRings(capture);
  const exchange = new Exchange(capture, credentials);
  const mayAsk = !rejectionOf(capture) && (options.force === true || isDue(capture, "server"));
  if (mayAsk) await refreshPolicy(capture, credentials);
  const policy = knownPolicy(capture);
  const quiet = policy ? quietNow(capture)?.reason : "no-policy";
  const sending = mayAsk && policy !== undefined && policy.captureMode !== "off";
  const sweep = new Sweep(capture, options, sending ? exchange : undefined);
  if (policy && quiet === undefined) {
    await sweep.run({ mode: policy.captureMode, since: readSetting<number>(capture, "since") ?? 0, quiet: windowsOf(capture) });
    findCommits(capture);
  }
  if (sending && exchange.stopped === undefined) {
    await sendAll(exchange);
    if (exchange.stopped === undefined) await tendBrains(exchange);
    if (exchange.stopped === undefined) await sendHeartbeat(exchange);
    if (exchange.stopped === undefined) await rotateToken(exchange);
  }
  if (isDue(capture, "prune", DAY_MS)) prune(capture);
  writeSetting(capture, "lastPass", capture.clock.now());
  return {
    recorded: sweep.recorded,
    sessionsSent: exchange.sessionsSent,
    quiet: quiet ?? (sweep.isFull ? "outbox-full" : undefined),
    stopped: exchange.stopped ?? rejectionOf(capture)?.reason,
    retryInMs: exchange.retryInMs,
    unreadable: sweep.unreadable,
  };
}

const windowsOf = ({ rows }: Capture): Terms["quiet"] =>
  rows.quiet.all().map(({ since, until }) => ({ since, until: until ?? Number.POSITIVE_INFINITY }));

/** One look through all stores. */
class Sweep {
  readonly #capture: Capture;
  readonly #options: PassOptions;
  readonly #exchange: Exchange | undefined;
  readonly unreadable: { path: string; reason: string }[] = [];
  recorded = 0;
  isFull = false;
  #read = 0;
  #readBefore = 0;
  #toRead = 0;

  constructor(capture: Capture, options: PassOptions, exchange: Exchange | undefined) {
    this.#capture = capture;
    this.#options = options;
    this.#exchange = exchange;
  }

  async run(terms: Terms): Promise<void> {
    const changed = STORES.flatMap((store) => {
      const format = AGENTS.find(({ agent }) => agent === store.agent);
      const isMeant = this.#options.agents?.includes(store.agent) ?? this.#isWatched(store.agent);
      return format && isMeant && !store.isDatabase ? this.#changedIn(store.list(store.root(this.#capture.machine)), format, terms) : [];
    });
    // An older file first: a fork's copies are then the fork's, and not the other way round.
    changed.sort((a, b) => a.stats.birthtimeMs - b.stats.birthtimeMs);
    this.#toRead = changed.reduce((sum, { bytes }) => sum + bytes, 0);
    this.isFull = this.#isOutboxFull();
    for (const { found, format } of changed) {
      if (this.isFull) return;
      await this.#readOne(found, format, terms);
    }
  }

  #isWatched(agent: string): boolean {
    const watched = readSetting<readonly string[]>(this.#capture, "agents");
    return watched === undefined || watched.includes(agent);
  }

  #changedIn(all: readonly Found[], format: AgentFormat, { since }: Terms) {
    const { rows } = this.#capture;
    const known = new Map(rows.sourcesOf.all(format.agent).map((row) => [row.path, row]));
    return all.flatMap((found) => {
      const stats = statOf(found.path);
      if (!stats || stats.mtimeMs < since) return [];
      const row = known.get(found.path);
      const isSame = row && row.size === stats.size && row.modified === stats.mtimeMs && row.inode === stats.ino && row.device === stats.dev;
      if (isSame && row.offset >= row.size) return [];
      if (isSame && row.seenAt > stats.mtimeMs && row.offset > 0 && isUnfinished(row)) return [];
      return [{ found, format, stats, bytes: Math.max(0, stats.size - (row && stats.size >= row.offset ? row.offset : 0)) }];
    });
  }

  async #readOne(found: Found, format: AgentFormat, terms: Terms): Promise<void> {
    const capture = this.#capture;
    const recorder = new Recorder(capture, terms);
    try {
      await readSource(
        {
          capture,
          recorder,
          format,
          onBytes: (bytes) => {
            this.#read += bytes;
          },
          goOn: () => this.#goOn(),
        },
        found,
        capture.rows.source.get(found.path),
      );
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      // Gone between listing and opening is as good as never there; a full disk ends the pass.
      if (code?.startsWith("SQLITE_")) throw error;
      if (code !== "ENOENT") this.unreadable.push({ path: found.path, reason: code ?? String(error) });
    }
    this.recorded += recorder.recorded;
    await this.#goOn();
  }

  /** Between transactions: sends what has gathered, and looks whether there is room for more. */
  async #goOn(): Promise<boolean> {
    if (this.#toRead > 0) this.#options.onProgress?.(Math.min(1, this.#read / this.#toRead));
    if (this.#read - this.#readBefore < SEND_AFTER_BYTES) return true;
    this.#readBefore = this.#read;
    if (this.#exchange && this.#exchange.stopped === undefined) await sendAll(this.#exchange);
    this.isFull = this.#isOutboxFull();
    return !this.isFull;
  }

  #isOutboxFull(): boolean {
    return outboxBytes(this.#capture) >= MAX_OUTBOX_BYTES;
  }
}

/** A last line without its end: nothing new until the file grows. */
const isUnfinished = (row: { readonly size: number; readonly offset: number }) => row.size - row.offset < 8 * 1024 * 1024;

function statOf(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}

/** How much waits to be sent, in bytes. */
export function outboxBytes({ rows }: Capture): number {
  return (rows.countEntries.get()?.bytes ?? 0) + (rows.waitingSpanBytes.get() ?? 0);
}

/** Forgets what the server has had for a week, and what was read four months ago. */
function prune(capture: Capture): void {
  const { rows, clock } = capture;
  const now = clock.now();
  capture.transact(() => {
    rows.pruneEntries.run(now - KEEP_SENT_MS);
    rows.pruneSpans.run(now - KEEP_SENT_MS);
    rows.pruneSeen.run(now - KEEP_SEEN_MS, PRUNED_AT_ONCE);
    rows.pruneCalls.run(now - KEEP_SEEN_MS);
    rows.pruneQuiet.run(now - KEEP_SEEN_MS);
  });
  dropOldBriefings(capture);
  notBefore(capture, "prune", DAY_MS);
}
