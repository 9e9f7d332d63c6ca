import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign, verify } from "node:crypto";
import { BuildError } from "../bundle.ts";

/*
 * Keys and signatures as minisign has them (https://jedisct1.github.io/minisign/): Ed25519 over the BLAKE2b-512 of a file, with a
 * trusted comment that is signed too. Both are deterministic.
 */

/** The DER that goes before the 32 bytes of an Ed25519 key (RFC 8410). */
const PKCS8 = Buffer.from("302e020100300506032b657004220420", "hex");
const SPKI = Buffer.from("302a300506032b6570032100", "hex");
const PREHASHED = "ED";
/** Offsets in a secret key file: algorithms, salt and limits come first, a checksum last. */
const SECRET = { bytes: 158, kdf: 2, keyId: 54, seed: 62, publicHalf: 94, checksum: 126 };
const TRUSTED = "trusted comment: ";

export interface ReleaseKey {
  /** 8 bytes. */
  readonly id: Buffer;
  readonly key: KeyObject;
}

/** As minisign prints it. */
export const keyName = ({ id }: ReleaseKey) =>
  Buffer.from(id).reverse().toString("hex").replace(/^0+/, "").toUpperCase();

const blake2b = (data: Uint8Array) => createHash("blake2b512").update(data).digest();
const publicKeyOf = (raw: Uint8Array) =>
  createPublicKey({ key: Buffer.concat([SPKI, raw]), format: "der", type: "spki" });
const secondLine = (text: string) => Buffer.from(text.split(/\r?\n/)[1] ?? "", "base64");

/** Reads what `minisign -G -W` wrote. @throws BuildError when it is something else, or has a password */
export function readSecretKey(text: string): ReleaseKey {
  const bytes = secondLine(text);
  if (bytes.length !== SECRET.bytes || bytes.toString("latin1", 0, 2) !== "Ed")
    throw new BuildError("the release key is no secret key of minisign: make one with minisign -G -W");
  if (bytes.readUInt16LE(SECRET.kdf) !== 0)
    throw new BuildError("the release key has a password, which is not supported: take it off with minisign -C -W");
  const seed = bytes.subarray(SECRET.seed, SECRET.publicHalf);
  const key = createPrivateKey({ key: Buffer.concat([PKCS8, seed]), format: "der", type: "pkcs8" });
  const made = createPublicKey(key).export({ format: "der", type: "spki" }).subarray(SPKI.length);
  if (!made.equals(bytes.subarray(SECRET.publicHalf, SECRET.checksum)))
    throw new BuildError("the release key is damaged: its halves do not belong together");
  return { id: bytes.subarray(SECRET.keyId, SECRET.seed), key };
}

/** Reads a public key: the file that minisign writes, or its second line alone. @throws BuildError when it is no such key */
export function readPublicKey(text: string): ReleaseKey {
  const bytes = text.includes("\n") ? secondLine(text) : Buffer.from(text, "base64");
  if (bytes.length !== 42 || bytes.toString("latin1", 0, 2) !== "Ed")
    throw new BuildError("this is no public key of minisign");
  return { id: bytes.subarray(2, 10), key: publicKeyOf(bytes.subarray(10)) };
}

/** The public key as a file. */
export function writePublicKey(release: ReleaseKey): string {
  const raw = createPublicKey(release.key).export({ format: "der", type: "spki" }).subarray(SPKI.length);
  const line = Buffer.concat([Buffer.from("Ed"), release.id, raw]).toString("base64");
  return `untrusted comment: minisign public key ${keyName(release)}\n${line}\n`;
}

/** @param comment one line, signed along. @returns what goes into FILE.minisig. */
export function signFile(release: ReleaseKey, content: Uint8Array, comment: string): string {
  const signature = sign(null, blake2b(content), release.key);
  const whole = sign(null, Buffer.concat([signature, Buffer.from(comment)]), release.key);
  const line = Buffer.concat([Buffer.from(PREHASHED), release.id, signature]).toString("base64");
  return `untrusted comment: signature of a release of Reckon\n${line}\n${TRUSTED}${comment}\n${whole.toString("base64")}\n`;
}

/** @returns the trusted comment. @throws BuildError unless the file is as it was signed with this key */
export function verifyFile(release: ReleaseKey, content: Uint8Array, signatureFile: string): string {
  const [, line = "", trusted = "", last = ""] = signatureFile.split(/\r?\n/);
  const bytes = Buffer.from(line, "base64");
  if (bytes.length !== 74 || bytes.toString("latin1", 0, 2) !== PREHASHED || !trusted.startsWith(TRUSTED))
    throw new BuildError("this is no prehashed signature of minisign");
  if (!bytes.subarray(2, 10).equals(release.id)) throw new BuildError("the signature was made with another key");
  const signature = bytes.subarray(10);
  const comment = trusted.slice(TRUSTED.length);
  const publicKey = release.key.type === "private" ? createPublicKey(release.key) : release.key;
  if (!verify(null, blake2b(content), publicKey, signature))
    throw new BuildError("the signature does not fit the file");
  const signed = Buffer.concat([signature, Buffer.from(comment)]);
  if (!verify(null, signed, publicKey, Buffer.from(last, "base64")))
    throw new BuildError("the signature does not fit its comment");
  return comment;
}
