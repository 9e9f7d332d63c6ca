import { type Stats, statSync } from "node:fs";
import { AGENTS } from "../formats/agents/agents.ts";
import type { AgentFormat } from "../formats/agents/transcript.ts";
import { Recorder, type Terms } from "./recorder.ts";
import { type Exchange, sendAll } from "./send.ts";
import { readSource } from "./sources/read.ts";
import { type Found, STORES } from "./sources/stores.ts";
import { type Capture, readSetting } from "./state.ts";

/** Above this nothing more is read until the server has taken some of it. */
const MAX_OUTBOX_BYTES = 512 * 1024 * 1024;
/** So much is read before it is sent, while there is a server to send it to. */
const SEND_AFTER_BYTES = 64 * 1024 * 1024;

export interface SweepOptions {
  /** Told how much of what is new has been read, from 0 to 1. */
  readonly onProgress?: ((share: number) => void) | undefined;
  readonly agents?: readonly string[] | undefined;
}

/** One look through all stores. */
export class Sweep {
  readonly #capture: Capture;
  readonly #options: SweepOptions;
  readonly #exchange: Exchange | undefined;
  readonly unreadable: { path: string; reason: string }[] = [];
  recorded = 0;
  isFull = false;
  #read = 0;
  #readBefore = 0;
  #toRead = 0;

  constructor(capture: Capture, options: SweepOptions, exchange: Exchange | undefined) {
    this.#capture = capture;
    this.#options = options;
    this.#exchange = exchange;
  }

  async run(terms: Terms): Promise<void> {
    const changed = STORES.flatMap((store) => {
      const format = AGENTS.find(({ agent }) => agent === store.agent);
      const isMeant = this.#options.agents?.includes(store.agent) ?? this.#isWatched(store.agent);
      return format && isMeant && !store.isDatabase
        ? this.#changedIn(store.list(store.root(this.#capture.machine)), format, terms)
        : [];
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
      const isSame =
        row &&
        row.size === stats.size &&
        row.modified === stats.mtimeMs &&
        row.inode === stats.ino &&
        row.device === stats.dev;
      if (isSame && row.offset >= row.size) return [];
      if (isSame && row.seenAt > stats.mtimeMs && row.offset > 0 && isUnfinished(row)) return [];
      return [
        { found, format, stats, bytes: Math.max(0, stats.size - (row && stats.size >= row.offset ? row.offset : 0)) },
      ];
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
const isUnfinished = (row: { readonly size: number; readonly offset: number }) =>
  row.size - row.offset < 8 * 1024 * 1024;

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
