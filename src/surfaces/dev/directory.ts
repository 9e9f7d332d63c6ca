import { copyFileSync, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeFolder, writeFileAtomically } from "../../kit/files.ts";
import { conflict, fail } from "../../kit/problem.ts";
import { BESIDE, databasePath, removeDatabase } from "../../platform/store/store.ts";
import type { ClockState } from "./clock.ts";
import type { Credentials } from "./seed.ts";

/** Marks a data directory as a local instance's, so that nobody plays with a real one by mistake. */
const MARK = "reckon-dev.json";
/** The database as it was seeded. */
const SEED = "dev-seed.db";
/** The checkpoint that its log had signed last. */
const SEED_CHECKPOINT = "dev-seed-checkpoint";
const KEY = "signing-key.pem";

/** The facts that an instance keeps for its next start in the same directory. */
export interface Kept {
  readonly credentials: Credentials;
  readonly seed: string | null;
  readonly startAt: number | null;
  readonly signingPem: string;
  readonly clock: ClockState | null;
}

/**
 * Makes a directory ready for a local instance.
 * @returns what an earlier one left there, or undefined for a new directory
 * @throws Error when it belongs to a real server
 */
export function claimLocal(directory: string): Kept | undefined {
  const mark = join(directory, MARK);
  if (existsSync(databasePath(directory)) && !existsSync(mark))
    fail(conflict, `${directory} belongs to a real server; "reckon dev" only uses directories that it made itself`);
  makeFolder(directory);
  if (!existsSync(mark)) writeFileSync(mark, "{}\n", { mode: 0o600 });
  try {
    const kept = JSON.parse(readFileSync(mark, "utf8")) as Kept;
    if (kept.credentials && existsSync(join(directory, SEED))) return kept;
  } catch {
    // A start that was cut short leaves half a file: the directory is seeded anew.
  }
  clearLocal(directory);
  return undefined;
}

function clearLocal(directory: string): void {
  removeDatabase(databasePath(directory));
  for (const name of [SEED, SEED_CHECKPOINT, KEY, "retired-keys", "server.json"])
    rmSync(join(directory, name), { recursive: true, force: true });
}

export function keep(directory: string, kept: Kept): void {
  // Whoever stops an instance may kill it while it still writes: half a file would take all that was kept along.
  writeFileAtomically(join(directory, MARK), `${JSON.stringify(kept)}\n`, true);
}

export function writeKey(directory: string, pem: string): void {
  writeFileSync(join(directory, KEY), pem, { mode: 0o600 });
}

/** Keeps a copy of the closed database, to go back to. */
export function keepSeed(directory: string): void {
  copyFileSync(databasePath(directory), join(directory, SEED));
  copyFileSync(join(directory, BESIDE.checkpoint), join(directory, SEED_CHECKPOINT));
}

/** Puts the seeded database in place of the closed one. */
export function restoreSeed(directory: string, pem: string): void {
  removeDatabase(databasePath(directory));
  copyFileSync(join(directory, SEED), databasePath(directory));
  // With a newer checkpoint the log would go on under another name, like that of a server that lost data. Earlier versions kept no
  // checkpoint.
  const checkpoint = join(directory, SEED_CHECKPOINT);
  if (existsSync(checkpoint)) copyFileSync(checkpoint, join(directory, BESIDE.checkpoint));
  writeKey(directory, pem);
}
