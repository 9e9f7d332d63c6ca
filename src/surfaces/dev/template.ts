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

/** What a seeded database follows from, on every port. */
export interface TemplateKey {
  readonly program: string;
  /** Of its signing key, without which no instance opens it: the key may be gone from where it is kept. */
  readonly signer: string;
  /** Null for instances without one; their `startAt` is the hour in which it was made. */
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

/** The log's key and what it signed last, without which the log of a copy goes on under another name; by their names. */
type KeptLog = Readonly<Record<string, string>>;

/** Of a seed, whose log has the same name and numbers at every start. Without one each instance has a log of its own. */
const logOf = ({ seed }: TemplateKey, directory: string): KeptLog =>
  Object.fromEntries(
    (seed === null ? [] : [BESIDE.ledgerKey, BESIDE.checkpoint]).map((name) => [
      name,
      readFileSync(join(directory, name), "utf8"),
    ]),
  );

/**
 * Keeps a database for later starts, in one file with what is known of it: of two instances that start at the same time one is kept, and
 * no database of the one with the team of the other. What cannot be kept is made again.
 * @param directory that it is of
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
