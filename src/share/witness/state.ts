import { createPrivateKey, generateKeyPairSync } from "node:crypto";
import { closeSync, existsSync, openSync } from "node:fs";
import { hostname } from "node:os";
import { dirname, join } from "node:path";
import * as v from "valibot";
import { readTextFile } from "../../kit/bounded-text.ts";
import { makeFolder, writeFileAtomically } from "../../kit/files.ts";
import { conflict, fail, invalid } from "../../kit/problem.ts";
import { COSIGNATURE_V1, type NoteSigner, noteSigner, parseVkey, vkeyOf } from "../../kit/transparency/note.ts";
import { local } from "../../platform/store/store.ts";

/*
 * What a witness keeps: for each log a state file, and beside it, shared by all in that folder, the key that it cosigns with.
 */

const MAX_STATE_BYTES = 1024 * 1024;
const FORMAT = "reckon-ledger-witness/1";
const State = v.strictObject({
  format: v.literal(FORMAT),
  /** The log's key, see `vkeyOf`. */
  log: v.string(),
  /** The newest checkpoint that was cosigned, as it was handed out. */
  checkpoint: v.string(),
});
export type WitnessState = Pick<v.InferOutput<typeof State>, "log" | "checkpoint">;

/** @returns undefined before the first checkpoint @throws Problem where the file is another one */
export function readState(path: string): WitnessState | undefined {
  if (!existsSync(path)) return undefined;
  try {
    return v.parse(State, JSON.parse(readTextFile(path, MAX_STATE_BYTES)));
  } catch (error) {
    if (!(error instanceof SyntaxError) && !(error instanceof v.ValiError)) throw error;
    fail(invalid, `${path} is not the state of a witness: name another file, or put the right one back`);
  }
}

export function writeState(path: string, state: WitnessState): void {
  writeFileAtomically(path, `${JSON.stringify({ format: FORMAT, ...state }, null, 2)}\n`, true);
}

/** The key of a folder's witness; made, under this or the machine's name, where there is none. @throws Problem where it has another name */
export function witnessSigner(folder: string, name: string | undefined): { signer: NoteSigner; isNew: boolean } {
  const [keyPath, vkeyPath] = [join(folder, "witness-key.pem"), join(folder, "witness-key.vkey")];
  const isNew = !existsSync(keyPath);
  if (isNew) {
    const { privateKey } = generateKeyPairSync("ed25519");
    writeOnce(keyPath, privateKey.export({ type: "pkcs8", format: "pem" }).toString());
  }
  const privateKey = readPrivateKey(keyPath);
  if (!existsSync(vkeyPath)) {
    const ownName = name ?? hostname().replace(/[\s+]/g, "-");
    writeOnce(vkeyPath, `${vkeyOf(noteSigner(ownName, COSIGNATURE_V1, privateKey))}\n`);
  }
  const named = parseVkey(readTextFile(vkeyPath, 4096).trim());
  const signer = noteSigner(named.name, COSIGNATURE_V1, privateKey);
  if (signer.id !== named.id)
    fail(invalid, `${vkeyPath} is not of the key ${keyPath}: take it away, and name the witness again`);
  if (name !== undefined && name !== named.name)
    fail(
      conflict,
      `the witness of ${folder} is called ${named.name}: keep the state of another in a folder of its own`,
    );
  return { signer, isNew };
}

function readPrivateKey(path: string) {
  const pem = readTextFile(path, 4096);
  try {
    return createPrivateKey(pem);
  } catch {
    fail(invalid, `${path} is no private key: put the right one back, or take it away and a new one is made`);
  }
}

/** Another process may make the same at the same time: the first one's stays. */
function writeOnce(path: string, content: string): void {
  try {
    writeFileAtomically(path, content);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

/**
 * Does something while no other process does it for the same state: two that read one state could else each sign another future of it.
 * The lock is the operating system's, on a file that stays: one that was killed leaves nothing that two who come after could both take over.
 * @throws Problem where another process is at it
 */
export async function exclusively<T>(path: string, work: () => Promise<T>): Promise<T> {
  makeFolder(dirname(path));
  const lock = `${path}.in-use`;
  closeSync(openSync(lock, "a", 0o600));
  const release = local.tryLock(lock) ?? fail(conflict, `${path} is in use by another process`);
  try {
    return await work();
  } finally {
    release();
  }
}
