import { readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { programVersion } from "../../kit/assets.ts";
import { sha256Hex } from "../../kit/hash.ts";
import { BESIDE, databasePath } from "../../platform/store/store.ts";
import type { CreatedTeam } from "./seed.ts";

/** Set by the bundler; absent when run from source. */
declare const RECKON_VERSION: string | undefined;

const MAX_KEPT = 8;
const NAME = /^seed-[0-9a-f]{64}/;

/** All that a seeded database depends on; the port is no part of it. */
export interface TemplateKey {
  readonly program: string;
  /** Identifies the signing key, without which no instance opens the database. The key may be gone from where it was kept. */
  readonly signer: string;
  /** Null for instances without a seed; their `startAt` is the hour in which the database was made. */
  readonly seed: string | null;
  readonly startAt: number;
  readonly empty: boolean;
}

/**
 * Tells one build of the program from another.
 * @returns undefined when run from source, where any file may have changed since
 */
export function programIdentity(): string | undefined {
  if (typeof RECKON_VERSION !== "string") return undefined;
  const files = [process.execPath, process.argv[1] ?? ""].map((path) => {
    const stat = statSync(path, { throwIfNoEntry: false });
    return [path, stat?.size, stat?.mtimeMs];
  });
  return JSON.stringify([programVersion(), files]);
}

const pathOf = (folder: string, key: TemplateKey) =>
  join(folder, `seed-${sha256Hex(JSON.stringify(Object.entries(key)))}`);

/** Copies the database of an earlier start with the same key. @returns undefined when there is none */
export function useTemplate(folder: string, key: TemplateKey, directory: string): CreatedTeam | undefined {
  const path = pathOf(folder, key);
  try {
    const kept = readFileSync(path);
    const end = kept.indexOf("\n");
    const { log, ...founded } = JSON.parse(kept.toString("utf8", 0, end)) as CreatedTeam & { log: KeptLog };
    writeFileSync(databasePath(directory), kept.subarray(end + 1), { mode: 0o600 });
    for (const [name, text] of Object.entries(log)) writeFileSync(join(directory, name), text, { mode: 0o600 });
    return founded;
  } catch {
    return undefined;
  }
}

/** Files of the log by name: its key and its last signed checkpoint. Without them the log of a copy would go on under another name. */
type KeptLog = Readonly<Record<string, string>>;

/** With a seed, whose log has the same name and numbers at every start. Without one each instance has a log of its own. */
const logOf = ({ seed }: TemplateKey, directory: string): KeptLog =>
  Object.fromEntries(
    (seed === null ? [] : [BESIDE.ledgerKey, BESIDE.checkpoint]).map((name) => [
      name,
      readFileSync(join(directory, name), "utf8"),
    ]),
  );

/**
 * Keeps a database for later starts, in one file together with its team. So of two instances that start at once, one is kept whole, never
 * the database of one with the team of the other. What cannot be kept is made again.
 * @param directory the directory of the database
 */
export function keepTemplate(
  folder: string,
  key: TemplateKey,
  database: Buffer,
  founded: CreatedTeam,
  directory: string,
): void {
  const path = pathOf(folder, key);
  try {
    const known = JSON.stringify({ ...founded, log: logOf(key, directory) });
    writeWhole(path, Buffer.concat([Buffer.from(`${known}\n`), database]));
    dropOldest(folder);
  } catch {
    // A full disk, or a folder that somebody cleaned up meanwhile.
  }
}

function writeWhole(path: string, content: Buffer): void {
  const temporary = `${path}.${process.pid}.tmp`;
  try {
    writeFileSync(temporary, content, { mode: 0o600 });
    renameSync(temporary, path);
  } finally {
    rmSync(temporary, { force: true });
  }
}

function dropOldest(folder: string): void {
  const kept = readdirSync(folder)
    .filter((name) => NAME.test(name))
    .map((name) => join(folder, name))
    .map((path) => ({ path, at: statSync(path).mtimeMs }))
    .toSorted((a, b) => b.at - a.at);
  for (const { path } of kept.slice(MAX_KEPT)) rmSync(path, { force: true });
}
