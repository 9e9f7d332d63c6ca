import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Sqlite, { type Database } from "better-sqlite3";
import { readConfig } from "../../../src/config.ts";
import type { Core } from "../../../src/core.ts";
import { bindDevice, createCode } from "../../../src/identity/devices/devices.ts";
import { createTeam, type Team } from "../../../src/identity/teams/teams.ts";
import { systemClock } from "../../../src/kit/clock.ts";
import { createLog } from "../../../src/kit/log.ts";
import { systemRandom } from "../../../src/kit/random.ts";
import { COMMAND_LINE } from "../../../src/platform/audit/audit.ts";
import { openStore } from "../../../src/platform/store/store.ts";
import { withEntries } from "../../support/entries.ts";

/** Data directories with teams and devices in them, made by the program's own functions as its commands do. */

export interface Device {
  readonly deviceId: string;
  readonly token: string;
}

export interface Data {
  readonly directory: string;
  readonly team: Team;
  readonly devices: readonly Device[];
  /** Unused connect codes. */
  readonly codes: readonly string[];
}

/** Works on a data directory as an admin command does, beside a running server or without one. */
export async function withDirectory<T>(directory: string, work: (core: Core) => Promise<T>): Promise<T> {
  const store = openStore(directory, { now: systemClock.now });
  try {
    const config = readConfig({ data: directory }, {});
    return await work({
      config,
      clock: systemClock,
      random: systemRandom,
      log: createLog({ level: "silent", now: systemClock.now, write: () => {} }),
      store,
      state: new Map(),
    });
  } finally {
    store.close();
  }
}

export interface DataOptions {
  /** Where; a temporary directory of its own by default. */
  readonly directory?: string;
  readonly devices?: number;
  readonly codes?: number;
  /** A signing key to adopt, because making one costs half a second. */
  readonly keyPem?: string;
}

export async function makeData(options: DataOptions = {}): Promise<Data> {
  const directory = options.directory ?? mkdtempSync(join(tmpdir(), "reckon-fault-"));
  const made = await withDirectory(directory, async (core) => {
    const team = await createTeam(core, "Acme", COMMAND_LINE);
    const devices: Device[] = [];
    for (let i = 0; i < (options.devices ?? 1); i++) {
      const { code } = await createCode(core, team.id, COMMAND_LINE);
      const bound = await bindDevice(core, code, "1", null);
      devices.push({ deviceId: bound.deviceId, token: bound.deviceToken });
    }
    const codes: string[] = [];
    for (let i = 0; i < (options.codes ?? 0); i++) codes.push((await createCode(core, team.id, COMMAND_LINE)).code);
    return { directory, team, devices, codes };
  });
  if (options.keyPem !== undefined)
    writeFileSync(join(directory, "signing-key.pem"), options.keyPem, { mode: 0o600, flag: "wx", flush: true });
  return made;
}

export function removeData(directory: string): void {
  rmSync(directory, { recursive: true, force: true });
}

/** Opens the database beside whoever else has it, for looking only. */
export function openToRead(directory: string): Database {
  return new Sqlite(join(directory, "reckon.db"), { readonly: true, timeout: 5_000 });
}

/** Runs a query on the database and closes it again; `telemetry_entries` are the entries that segments hold. */
// biome-ignore lint/suspicious/noExplicitAny: rows of any table
export function rowsOf(directory: string, sql: string, ...parameters: unknown[]): any[] {
  const db = openToRead(directory);
  try {
    return withEntries(db, sql, () => db.prepare(sql).all(...parameters));
  } finally {
    db.close();
  }
}
