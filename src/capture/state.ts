import { existsSync, readFileSync, statSync } from "node:fs";
import { type Clock, DAY_MS } from "../kit/clock.ts";
import { DataDirectoryError } from "../kit/errors.ts";
import { writeFileAtomically } from "../kit/files.ts";
import type { Log } from "../kit/log.ts";
import { local } from "../platform/store/store.ts";
import { agentHome, type Machine, makeHome, mustBeAtHome, type Places, placesIn, removeHome } from "./home.ts";
import { type LocalDatabase, prepareRows, type Rows } from "./rows.ts";
import { SCHEMAS } from "./schema.ts";

/** Who this machine is to its server; kept in a file of mode 0600, apart from what is recorded. */
export interface Credentials {
  /** Without a slash at its end. */
  readonly url: string;
  readonly token: string;
  /** ISO 8601; null when it never expires. */
  readonly expiresAt: string | null;
  readonly deviceId: string | null;
  readonly teamId: string;
  readonly teamName: string;
  readonly connectedAt: string;
  /** Whether the machine stays with this server even when that sends it on to another. */
  readonly isPinned?: boolean;
}

const MAX_JOB_MS = 8 * DAY_MS;

/**
 * Whether a machine was bound for one job, by a short-lived token that is not replaced; other tokens live for 90 days. False where the
 * clock was ahead at connecting.
 */
export const isForOneJob = ({ expiresAt, connectedAt }: Credentials, now: number): boolean =>
  Date.parse(connectedAt) <= now && Date.parse(expiresAt ?? "") - Date.parse(connectedAt) < MAX_JOB_MS;

/** What the commands of the capture client work on. */
export interface Capture {
  readonly machine: Machine;
  readonly places: Places;
  readonly clock: Clock;
  readonly log: Log;
  readonly db: LocalDatabase;
  readonly rows: Rows;
  /** Whether the database is still this machine's: not after it was disconnected, and maybe connected anew to somebody else's server. */
  isInPlace(): boolean;
  /** Whether a newer program has changed the database since it was opened: the meaning of its rows is not known here. */
  isOutdated(): boolean;
  /** An error of this database in words that a person can act on; any other as it is. */
  explained(error: unknown): unknown;
  /** Runs row changes in one transaction: all of them, or none. */
  transact<T>(change: () => T): T;
  /** Closes the database. A folder that was made by opening it is removed where nothing came of it. */
  close(): void;
}

export interface CaptureParts {
  readonly machine: Machine;
  readonly clock: Clock;
  readonly log: Log;
}

/** Opens the client's own database, making it and its folder if need be. @throws Error when they cannot be used */
export function openCapture({ machine, clock, log }: CaptureParts): Capture {
  mustBeAtHome(machine);
  const places = placesIn(agentHome(machine));
  // Copies of agents' earlier settings are still there where only the database was deleted.
  const isNew = !existsSync(places.database) && !existsSync(places.backups);
  makeHome(places);
  const db = openDatabase(places.database);
  const { ino } = statSync(places.database);
  const rows = prepareRows(db);
  return {
    machine,
    places,
    clock,
    log,
    db,
    rows,
    isInPlace: () => statSync(places.database, { throwIfNoEntry: false })?.ino === ino,
    isOutdated: () => (db.pragma("user_version", { simple: true }) as number) > SCHEMAS.length,
    explained: (error) => explained(error, places.database),
    transact: (change) => db.transaction(change).immediate(),
    close() {
      if (!db.open) return;
      // Somebody may have paused recording before connecting.
      const isInVain = isNew && !existsSync(places.credentials) && rows.quiet.all().length === 0;
      db.close();
      if (isInVain) removeHome(places);
    },
  };
}

/** An error of the database as a person can act on it: SQLite's own words name no file. @returns any other error as it is */
function explained(error: unknown, database: string): unknown {
  const { code = "", message } = error as { code?: string; message: string };
  // This program cannot disconnect either: it does not know how the newer one keeps things.
  if (error instanceof DataDirectoryError)
    return new Error(
      `${message}: use that; to go on with this one, delete it and agent.db-*, with what waits there unsent, then connect again with a new code`,
    );
  if (!code.startsWith("SQLITE_")) return error;
  if (/^SQLITE_(?:NOTADB|CORRUPT)/.test(code))
    return new Error(
      `${database} is damaged (${message}): delete it and agent.db-*, then connect again with a new code, or disconnect`,
    );
  // SQLite says IOERR_SHMSIZE only where the memory that its processes share has no room on the disk.
  if (/^SQLITE_(?:FULL|IOERR_SHMSIZE)$/.test(code))
    return new Error(
      `${database} cannot be written (${message}): the disk is full, or what of it you may use. Make room first: without it no command works here, nor does "disconnect"`,
    );
  // SQLite has several codes for a file system without locks, or without memory that processes share.
  if (/^SQLITE_(?:BUSY|PROTOCOL|IOERR_(?:\w*LOCK|SHM))/.test(code))
    return new Error(
      `${database} cannot be locked (${message}): end the other program that holds it; on a network drive without locks, name a folder of this machine's own disk with RECKON_AGENT_HOME`,
    );
  return new Error(`${database} cannot be used: ${message}`);
}

function openDatabase(path: string): LocalDatabase {
  try {
    return local.open(path, SCHEMAS);
  } catch (error) {
    throw explained(error, path);
  }
}

/** Whether the machine is connected. Looks without making anything. */
export const isConnected = ({ machine }: CaptureParts): boolean => existsSync(placesIn(agentHome(machine)).credentials);

/** The message where a connection is needed and there is none. */
export const NOT_CONNECTED = 'this machine is not connected: run "reckon agent connect URL CODE"';

/** @returns undefined when the machine is not connected @throws Error when the file is not one of ours */
export function readCredentials(places: Places): Credentials | undefined {
  let text: string;
  try {
    text = readFileSync(places.credentials, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
  try {
    const value = JSON.parse(text) as Credentials;
    if (typeof value.url === "string" && typeof value.token === "string") return value;
  } catch {
    // Said below.
  }
  throw new Error(
    `${places.credentials} cannot be read: run "reckon agent connect URL CODE" with a new code, or "reckon agent disconnect --force"`,
  );
}

export function writeCredentials(places: Places, credentials: Credentials): void {
  writeFileAtomically(places.credentials, `${JSON.stringify(credentials, null, 2)}\n`, true);
}

/**
 * A setting: from when on transcripts are read, in milliseconds since the epoch. Without it nothing is read: a database that was made anew
 * beside credentials that stayed does not know what a person agreed to, nor what they paused.
 */
export const SINCE = "since";
/** A setting: what was read or paused before this instant may have been forgotten; in milliseconds since the epoch. */
export const FORGOTTEN = "forgotten";

/** A setting: the agents that were chosen when the machine was connected; null: all, also those that are installed later. */
export const CHOSEN_AGENTS = "agents";

/** The agents whose transcripts are read and whose hooks are looked after; undefined: all. */
export const chosenAgents = (capture: Capture): readonly string[] | undefined =>
  readSetting<readonly string[] | null>(capture, CHOSEN_AGENTS) ?? undefined;

/** A setting: when the last pass ended, in milliseconds since the epoch. */
export const LAST_PASS = "lastPass";

/** A setting of one value, as JSON. */
export function readSetting<T>({ rows }: Capture, name: string): T | undefined {
  const text = rows.setting.get(name);
  return text === undefined ? undefined : (JSON.parse(text) as T);
}

export function writeSetting({ rows }: Capture, name: string, value: unknown): void {
  rows.putSetting.run(name, JSON.stringify(value));
}
