import { createPrivateKey, generateKeyPairSync, type KeyObject } from "node:crypto";
import { chmodSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Core, slot } from "../../core.ts";
import { DataDirectoryError } from "../../kit/errors.ts";
import { writeFileAtomically } from "../../kit/files.ts";
import { fail, unavailable } from "../../kit/problem.ts";
import { ED25519, type NoteSigner, noteSigner, vkeyOf } from "../../kit/transparency/note.ts";
import { BESIDE } from "../store/store.ts";
import { currentEpoch, type Epoch, epochs } from "./epoch.ts";

const keyFile = (core: Core) => join(core.store.directory, BESIDE.ledgerKey);

export const hasLedgerKey = (core: Core): boolean => existsSync(keyFile(core));

/** The Ed25519 key (RFC 8032) that signs checkpoints. It is not the one of licences, which is an RSA key and rotates. */
const ledgerKey = slot((core): KeyObject => {
  const path = keyFile(core);
  let key: KeyObject | undefined;
  try {
    key = createPrivateKey(readFileSync(path));
  } catch {
    // Reported below, with advice.
  }
  if (key?.asymmetricKeyType !== "ed25519")
    throw new DataDirectoryError(
      `the ledger's key ${path} is no Ed25519 key: put back the file from your backup, or take it away and a new one is made, under ` +
        "which what was signed before does not verify",
    );
  return key;
});

/** The key under its name, for signing notes. @throws Problem before a server started on this database */
export function ledgerSigner(core: Core, name = currentEpoch(core)?.name): NoteSigner {
  return noteSigner(name ?? fail(unavailable, "no server started on this database yet"), ED25519, ledgerKey(core));
}

/** Makes the key when there is none. @throws DataDirectoryError when the file holds no such key */
export function ensureLedgerKey(core: Core): void {
  if (!hasLedgerKey(core)) writeKey(keyFile(core));
  chmodSync(keyFile(core), 0o600);
  ledgerKey(core);
}

/** Functions for the public half, and for a restore. */
export const ledgerKeys = {
  /** The line that checkpoints are checked with; undefined before a server started on this database. */
  vkey: (core: Core): string | undefined => currentEpoch(core) && vkeyOf(ledgerSigner(core)),

  /** A private key, in PEM. */
  make: (): string => generateKeyPairSync("ed25519").privateKey.export({ type: "pkcs8", format: "pem" }) as string,

  /**
   * Why a key is not the log's; undefined when it is, or when the log does not say which key it has.
   * @param pem the private key; undefined when there is none
   */
  problemOf(core: Core, pem: string | undefined): string | undefined {
    const last = epochs(core).findLast(({ holds }) => holds);
    if (!last) return undefined;
    if (pem === undefined) return "is missing";
    const { name, key } = JSON.parse(last.text) as Epoch;
    try {
      const isIt = key === undefined || vkeyOf(noteSigner(name, ED25519, createPrivateKey(pem))) === key;
      return isIt ? undefined : `is another than the log's, ${key}`;
    } catch {
      return "is no Ed25519 key";
    }
  },

  /** As `problemOf`, for the key in the data directory. */
  problem: (core: Core): string | undefined =>
    ledgerKeys.problemOf(core, hasLedgerKey(core) ? readFileSync(keyFile(core), "utf8") : undefined),
};

function writeKey(path: string): void {
  try {
    writeFileAtomically(path, ledgerKeys.make());
  } catch (error) {
    // Another process made it in the meantime: theirs is the one.
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}
