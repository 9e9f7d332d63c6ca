import { createPrivateKey } from "node:crypto";
import { copyFileSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Core } from "../../core.ts";
import { whereFull } from "../../kit/errors.ts";
import { requireFile } from "../../kit/files.ts";
import { readSigningKey } from "../../kit/jwt.ts";
import { fail, invalid, Problem } from "../../kit/problem.ts";
import type { Steps } from "../../kit/steps.ts";
import { parseCheckpointText } from "../../kit/transparency/checkpoint.ts";
import { parseNote } from "../../kit/transparency/note.ts";
import { listKeys, unwrapKeys } from "../../platform/keys/keys.ts";
import { BESIDE, databasePath, openFile, removeDatabase } from "../../platform/store/store.ts";
import { currentEpoch, hasTree, ledgerKeys, treeHead } from "../../platform/transparency/transparency.ts";
import { type CopyFacts, failToRestore, inspectCopy, type Parts, withCopy } from "./copies.ts";
import { findLost, type Lost } from "./lost.ts";
import { COPYING, type FileBeside, lockToRestore, putInPlace, RESTORE_TAKES } from "./restore.ts";

/** What of the keys is at hand; those that lie in the directory are used as well. */
export interface GivenKeys {
  /** Private keys in PEM: an RSA key signs licences, an Ed25519 key the ledger. */
  readonly pems: readonly string[];
  /** Unwraps the keys that lie encrypted in the database; undefined when it was not given. */
  readonly passphrase: string | undefined;
  /** Goes on without the ledger's key: another is made, under which what was signed before does not verify. */
  readonly newLedgerKey: boolean;
}

export interface RestoredCopy extends CopyFacts, Lost {
  /** Where what was there lies now; null when nothing was. */
  readonly keptAside: string | null;
  /** Leaves that were in this directory, by its database or what it signed last, and are not in the copy: at least so many are lost. null where nothing tells. */
  readonly lostLeaves: number | null;
}

/**
 * Puts a copy in place of a data directory's database, with the keys. The log goes on as another epoch. What was there is copied to
 * `backups/`, not deleted.
 * @param stamp names the folder for what was there
 * @throws DataDirectoryInUse while a server runs; Problem where the copy is not sound or a key is missing: nothing is changed then
 */
export async function restoreCopy(
  parts: Parts,
  file: string,
  given: GivenKeys,
  steps: Steps,
  stamp: string,
): Promise<RestoredCopy> {
  const directory = parts.config.data;
  requireFile(file);
  const lock = lockToRestore(directory);
  const incoming = join(directory, BESIDE.incoming);
  try {
    steps(COPYING);
    takeIn(file, incoming);
    // Missing keys are reported before the long inspection of the copy. When the copy is so damaged that even this fails, the inspection says how.
    const { keys, origin } = await withCopy(parts, incoming, async (copy) => ({
      keys: await keysFor(copy, directory, given),
      origin: currentEpoch(copy)?.origin,
    })).catch(async (error: unknown) => {
      if (!(error instanceof Problem)) await inspectCopy(parts, incoming, steps);
      throw error;
    });
    const facts = await inspectCopy(parts, incoming, steps);
    const here = Math.max(signedSize(directory, origin), await storedSize(parts, directory, origin));
    const lostLeaves = here < 0 ? null : Math.max(0, here - (facts.head?.id ?? 0));
    const lost = findLost(directory, incoming);
    return { ...facts, ...lost, lostLeaves, keptAside: putInPlace(directory, incoming, keys, stamp, steps) };
  } catch (error) {
    throw whereFull(directory, error, RESTORE_TAKES);
  } finally {
    removeDatabase(incoming);
    lock.release();
  }
}

/** Copies a database with the log that may lie beside it, and moves that into it. */
function takeIn(file: string, incoming: string): void {
  copyFileSync(file, incoming);
  if (existsSync(`${file}-wal`)) copyFileSync(`${file}-wal`, `${incoming}-wal`);
  const db = openFile(incoming);
  try {
    db.pragma("journal_mode = DELETE");
    // It may be a backup: its keys would stay within the database, and what carries them in the way of the next backup.
    db.pragma("secure_delete = ON");
    db.exec("DROP TABLE IF EXISTS backup_files; DROP TABLE IF EXISTS backup_facts");
  } catch (error) {
    failToRestore(file, error);
  } finally {
    db.close();
  }
}

function nameOf(pem: string): string {
  let type: string | undefined;
  try {
    type = createPrivateKey(pem).asymmetricKeyType;
  } catch {
    // OpenSSL names neither the file nor what is wrong with it.
  }
  if (type === "rsa") return BESIDE.key;
  return type === "ed25519" ? BESIDE.ledgerKey : fail(invalid, "--key takes a signing-key.pem or a ledger-key.pem");
}

/** The key files that belong to a database. @throws Problem where one is missing or is another's */
async function keysFor(
  copy: Core,
  directory: string,
  { pems, passphrase, newLedgerKey }: GivenKeys,
): Promise<FileBeside[]> {
  const found = new Map<string, string>();
  for (const name of [BESIDE.key, BESIDE.ledgerKey])
    if (existsSync(join(directory, name))) found.set(name, readFileSync(join(directory, name), "utf8"));
  const unwrapped = passphrase === undefined ? {} : await unwrapKeys(copy, passphrase);
  for (const [name, pem] of Object.entries(unwrapped)) found.set(name, pem);
  for (const pem of pems) found.set(nameOf(pem), pem);
  await requireSigningKey(copy, found.get(BESIDE.key));
  if (newLedgerKey) found.set(BESIDE.ledgerKey, ledgerKeys.make());
  const problem = newLedgerKey ? undefined : ledgerKeys.problemOf(copy, found.get(BESIDE.ledgerKey));
  if (problem)
    fail(
      invalid,
      `the ledger's key ${problem}: give ledger-key.pem with --key, or --new-ledger-key to go on with another, under which what was signed before does not verify`,
    );
  return [...found].map(([name, content]) => ({ name, content }));
}

async function requireSigningKey(copy: Core, pem: string | undefined): Promise<void> {
  const active = listKeys(copy).find(({ retiredAt }) => retiredAt === null);
  if (!active || copy.config.signing === "off") return;
  if (pem === undefined)
    fail(
      invalid,
      `the signing key ${active.kid} is missing: give signing-key.pem with --key, or the passphrase that "reckon key wrap" was given with --passphrase-stdin`,
    );
  const { kid } = await readSigningKey(pem);
  if (kid !== active.kid) fail(invalid, `the signing key is another (${kid}) than the database's, ${active.kid}`);
}

/** What tells nothing: it is of another log, damaged or not there. */
const UNKNOWN = -1;

/** How many leaves were signed last in a directory, by what lies there. */
function signedSize(directory: string, origin: string | undefined): number {
  const path = join(directory, BESIDE.checkpoint);
  if (!existsSync(path)) return UNKNOWN;
  try {
    const signed = parseCheckpointText(parseNote(readFileSync(path, "utf8")).text);
    return signed.origin === origin ? signed.size : UNKNOWN;
  } catch (error) {
    if (error instanceof Problem) return UNKNOWN;
    throw error;
  }
}

/** How many leaves the database has that is replaced: more than were signed, where nobody asked for a receipt at the end. */
function storedSize(parts: Parts, directory: string, origin: string | undefined): Promise<number> {
  return withCopy(parts, databasePath(directory), (there) =>
    hasTree(there) && currentEpoch(there)?.origin === origin ? treeHead(there).size : UNKNOWN,
  ).catch(() => UNKNOWN);
}
