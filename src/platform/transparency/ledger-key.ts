import { createPrivateKey, generateKeyPairSync, type KeyObject } from "node:crypto";
import { chmodSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Core, slot } from "../../core.ts";
import { DataDirectoryError } from "../../kit/errors.ts";
import { writeFileAtomically } from "../../kit/files.ts";
import { fail, unavailable } from "../../kit/problem.ts";
import { ED25519, type NoteSigner, noteSigner } from "../../kit/transparency/note.ts";
import { BESIDE } from "../store/store.ts";
import { currentEpoch } from "./epoch.ts";

const keyFile = (core: Core) => join(core.store.directory, BESIDE.ledgerKey);

export const hasLedgerKey = (core: Core): boolean => existsSync(keyFile(core));

/** The Ed25519 key (RFC 8032) that signs checkpoints. It is not the one of licences, which is an RSA key and rotates. */
const ledgerKey = slot((core): KeyObject => {
  const path = keyFile(core);
  let key: KeyObject | undefined;
  try {
    key = createPrivateKey(readFileSync(path));
  } catch {
    // Told below, with what to do.
  }
  if (key?.asymmetricKeyType !== "ed25519")
    throw new DataDirectoryError(
      `the ledger's key ${path} is no Ed25519 key: put back the file from your backup, or take it away and a new one is made, under ` +
        "which what was signed before does not verify",
    );
  return key;
});

/** The same under its name, as notes are signed with it. @throws Problem before a server started on this database */
export function ledgerSigner(core: Core): NoteSigner {
  const name = currentEpoch(core)?.name ?? fail(unavailable, "no server started on this database yet");
  return noteSigner(name, ED25519, ledgerKey(core));
}

/** Makes the key where there is none. @throws DataDirectoryError where the one that is there is no such key */
export function ensureLedgerKey(core: Core): void {
  if (!hasLedgerKey(core)) makeKey(keyFile(core));
  chmodSync(keyFile(core), 0o600);
  ledgerKey(core);
}

function makeKey(path: string): void {
  const { privateKey } = generateKeyPairSync("ed25519", {
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
    publicKeyEncoding: { type: "spki", format: "pem" },
  });
  try {
    writeFileAtomically(path, privateKey);
  } catch (error) {
    // Another process made it in the meantime: theirs is the one.
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}
