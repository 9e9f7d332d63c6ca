import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from "node:crypto";
import { chmodSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Core, slot } from "../../core.ts";
import { DataDirectoryError } from "../../kit/errors.ts";
import { writeFileAtomically } from "../../kit/files.ts";
import { BESIDE } from "../store/store.ts";

/** The Ed25519 key (RFC 8032) that signs checkpoints. It is not the one of licences, which is an RSA key and rotates. */
export const ledgerKey = slot((core): KeyObject => {
  const path = join(core.store.directory, BESIDE.ledgerKey);
  if (!existsSync(path)) makeKey(path);
  chmodSync(path, 0o600);
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

/** The public half of the key that signs. */
export const ledgerPublicKey = (core: Core): KeyObject => createPublicKey(ledgerKey(core));

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
