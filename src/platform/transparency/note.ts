import { createPublicKey, type KeyObject, sign, verify } from "node:crypto";
import { sameDigest, sha256 } from "../../kit/hash.ts";

/** Size and root of a tree. */
export interface TreeHead {
  readonly size: number;
  readonly root: Buffer;
}

/** Of C2SP signed-note: an Ed25519 key. */
const ED25519 = Buffer.of(1);

/** The body of a checkpoint (C2SP tlog-checkpoint). */
export const checkpointBody = (origin: string, { size, root }: TreeHead): string =>
  `${origin}\n${size}\n${root.toString("base64")}\n`;

/** The 32 bytes of an Ed25519 public key, which end its SPKI form. */
const rawKey = (key: KeyObject) => createPublicKey(key).export({ type: "spki", format: "der" }).subarray(-32);
const keyId = (name: string, key: KeyObject) =>
  sha256(Buffer.concat([Buffer.from(`${name}\n`), ED25519, rawKey(key)])).subarray(0, 4);

/** The key as those who check have it (C2SP signed-note, verifier keys). @param key private or public */
export const verifierKey = (name: string, key: KeyObject): string =>
  `${name}+${keyId(name, key).toString("hex")}+${Buffer.concat([ED25519, rawKey(key)]).toString("base64")}`;

/** @returns the signature, and the note that it makes of the text (C2SP signed-note) */
export function signNote(text: string, name: string, key: KeyObject): { note: string; signature: Buffer } {
  const signature = sign(null, Buffer.from(text), key);
  const line = `\u2014 ${name} ${Buffer.concat([keyId(name, key), signature]).toString("base64")}\n`;
  return { note: `${text}\n${line}`, signature };
}

const CHECKPOINT = /^([^\n]+)\n(0|[1-9]\d{0,15})\n([A-Za-z0-9+/]{43}=)\n\n\u2014 ([^\n ]+) ([A-Za-z0-9+/]{91}=)\n$/;

/** Reads a checkpoint of our own; undefined for any other, or one that was altered. */
export function readOwnCheckpoint(note: string, origin: string, key: KeyObject): TreeHead | undefined {
  const [, name, size, root, signer, line] = CHECKPOINT.exec(note) ?? [];
  if (name !== origin || signer !== origin || !size || !root || !line) return undefined;
  const head = { size: Number(size), root: Buffer.from(root, "base64") };
  const bytes = Buffer.from(line, "base64");
  const isOurs =
    sameDigest(bytes.subarray(0, 4), keyId(origin, key)) &&
    verify(null, Buffer.from(checkpointBody(origin, head)), createPublicKey(key), bytes.subarray(4));
  return isOurs ? head : undefined;
}
