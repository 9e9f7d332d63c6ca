import { AGENTS } from "../formats/agents/agents.ts";
import { cursor } from "../formats/agents/cursor.ts";
import type { AgentFormat } from "../formats/agents/transcript.ts";
import { systemErrorText } from "../kit/system-error.ts";
import type { Exchange } from "./exchange.ts";
import { Recorder, type Terms } from "./recorder.ts";
import type { SourceRow } from "./rows.ts";
import { sendAll } from "./send.ts";
import { readOpencode } from "./sources/opencode.ts";
import { readSource } from "./sources/read.ts";
import { dropHeard, readRings } from "./sources/rings.ts";
import { orderOf, SIGNS } from "./sources/signs.ts";
import { type Found, STORES, type TranscriptStore } from "./sources/stores.ts";
import { type Capture, chosenAgents } from "./state.ts";
import { isReadable } from "./wrong-clock.ts";

/** Bytes that may wait to be sent. Above this nothing more is read until the server has taken some of it. */
const MAX_OUTBOX_BYTES = 512 * 1024 * 1024;
/** Bytes that are read between two sendings, while there is a server to send them to. */
const SEND_AFTER_BYTES = 64 * 1024 * 1024;
/** Bytes that are read before what waits is counted anew, because counting costs. */
const COUNT_AFTER_BYTES = 8 * 1024 * 1024;

export interface SweepOptions {
  /** Told how much of what is new has been read, from 0 to 1. */
  readonly onProgress?: ((share: number) => void) | undefined;
  readonly agents?: readonly string[] | undefined;
  /** Bytes that may wait to be sent. */
  readonly maxOutboxBytes?: number | undefined;
}

/** The limit of what may wait to be sent. Where it is reached, what waits is sent first. */
export class Room {
  readonly #capture: Capture;
  readonly #exchange: Exchange | undefined;
  readonly #mostBytes: number;
  /** Bytes that were read. */
  read = 0;
  isFull = false;
  #countAt = 0;

  /** @param exchange undefined where the server takes nothing now */
  constructor(capture: Capture, exchange: Exchange | undefined, mostBytes = MAX_OUTBOX_BYTES) {
    this.#capture = capture;
    this.#exchange = exchange;
    this.#mostBytes = mostBytes;
  }

  async send(): Promise<void> {
    if (this.#exchange && this.#exchange.stopped === undefined) await sendAll(this.#exchange);
  }

  /** Whether more may be recorded. A full outbox is sent first. */
  async isThere(): Promise<boolean> {
    if (this.read < this.#countAt) return true;
    if (outboxBytes(this.#capture) >= this.#mostBytes) await this.send();
    this.isFull = outboxBytes(this.#capture) >= this.#mostBytes;
    if (!this.isFull) this.#countAt = this.read + Math.min(COUNT_AFTER_BYTES, this.#mostBytes / 8);
    return !this.isFull;
  }
}

/** A transcript in which something may be new. */
interface Changed {
  readonly found: Found;
  readonly format: AgentFormat;
  readonly isDatabase: boolean;
  readonly row: SourceRow | undefined;
  readonly bytes: number;
  /** See `orderOf`. */
  readonly order: number;
}

/** One look through all stores. */
export class Sweep {
  readonly #capture: Capture;
  readonly #options: SweepOptions;
  readonly #room: Room;
  readonly unreadable: { path: string; reason: string }[] = [];
  recorded = 0;
  #readBefore = 0;
  #toRead = 0;

  constructor(capture: Capture, options: SweepOptions, exchange: Exchange | undefined) {
    this.#capture = capture;
    this.#options = options;
    this.#room = new Room(capture, exchange, options.maxOutboxBytes);
  }

  get isFull(): boolean {
    return this.#room.isFull;
  }

  async run(terms: Terms): Promise<void> {
    const changed = STORES.filter(({ agent }) => this.#isMeant(agent)).flatMap((store) =>
      this.#changedIn(store, terms),
    );
    // Older files first: records that a fork copied then count for the session that it was forked from.
    changed.sort((a, b) => a.order - b.order);
    this.#toRead = changed.reduce((sum, { bytes }) => sum + bytes, 0);
    await this.#readHooks(terms);
    for (const one of changed) {
      if (!(await this.#room.isThere())) return;
      await this.#readOne(one, terms);
    }
  }

  #isMeant(agent: string): boolean {
    return (this.#options.agents ?? chosenAgents(this.#capture))?.includes(agent) ?? true;
  }

  /**
   * Records what Cursor says only in its hooks. Where Cursor is not watched, its notes are removed; where only this look leaves it out,
   * they stay.
   */
  async #readHooks(terms: Terms): Promise<void> {
    if (!this.#isMeant(cursor.agent)) {
      if (!this.#options.agents) dropHeard(this.#capture, () => true);
      return;
    }
    const recorder = new Recorder(this.#capture, terms);
    await readRings(this.#capture, cursor, recorder, (bytes) => {
      this.#room.read += bytes;
      return this.#room.isThere();
    });
    this.recorded += recorder.recorded;
  }

  /** A store's transcripts in which something may be new. */
  #changedIn(store: TranscriptStore, terms: Terms): Changed[] {
    const format = AGENTS.find(({ agent }) => agent === store.agent);
    if (!format) return [];
    const known = new Map(this.#capture.rows.sourcesOf.all(store.agent).map((row) => [row.path, row]));
    const now = this.#capture.clock.now();
    const onUnreadable = (folder: string, error: unknown) => this.#cannotRead(folder, error);
    return store.list(store.root(this.#capture.machine), onUnreadable).flatMap((found) => {
      const sign = store.signOf(found.path);
      const row = known.get(found.path);
      if (
        !sign ||
        (!row && !isReadable(terms, sign.modified, now)) ||
        (row && SIGNS.every((name) => sign[name] === row[name]))
      )
        return [];
      const isDatabase = store.isDatabase ?? false;
      const bytes = Math.max(0, sign.size - (row && !isDatabase && sign.size >= row.offset ? row.offset : 0));
      return [{ found, format, isDatabase, row, bytes, order: orderOf(found.path, sign) }];
    });
  }

  #cannotRead(path: string, error: unknown): void {
    this.unreadable.push({ path, reason: systemErrorText(error) ?? (error as Error).message });
  }

  async #readOne({ found, format, isDatabase, row }: Changed, terms: Terms): Promise<void> {
    const recorder = new Recorder(this.#capture, terms);
    const reading = {
      capture: this.#capture,
      recorder,
      format,
      onBytes: (bytes: number) => {
        this.#room.read += bytes;
      },
      goOn: () => this.#goOn(),
    };
    try {
      await (isDatabase ? readOpencode : readSource)(reading, found, row);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      // A file that vanished since it was listed is passed over. An error of our own database ends the pass.
      if (code?.startsWith("SQLITE_")) throw error;
      if (code !== "ENOENT") this.#cannotRead(found.path, error);
    }
    this.recorded += recorder.recorded;
    await this.#goOn();
  }

  /** Between transactions: sends what has gathered, and looks whether there is room for more. */
  async #goOn(): Promise<boolean> {
    const { read } = this.#room;
    if (this.#toRead > 0) this.#options.onProgress?.(Math.min(1, read / this.#toRead));
    if (read - this.#readBefore < SEND_AFTER_BYTES) return true;
    this.#readBefore = read;
    await this.#room.send();
    return this.#room.isThere();
  }
}

/** How much waits to be sent, in bytes. */
export function outboxBytes({ rows }: Capture): number {
  return (rows.countEntries.get()?.bytes ?? 0) + (rows.waitingSpanBytes.get() ?? 0);
}
