import { createPublicKey, type KeyObject, sign, verify } from "node:crypto";
import { sha256 } from "../hash.ts";
import { fail, invalid } from "../problem.ts";

/*
 * Signed notes (C2SP signed-note): a text and lines below it with the signatures of one or more keys. Two kinds of signatures are
 * known here, both Ed25519 (RFC 8032): those of a log, and a witness's timestamped cosignatures (C2SP tlog-cosignature).
 */

export const ED25519 = 0x01;
export const COSIGNATURE_V1 = 0x04;
export type SignatureType = typeof ED25519 | typeof COSIGNATURE_V1;

const MAX_NOTE_CHARS = 256 * 1024;
const MAX_SIGNATURES = 100;
const MAX_NAME_CHARS = 512;
/** The last second of the year 9999: beyond it a time cannot be written as others write it. */
const MAX_SECONDS = 253_402_300_799;
const KEY_ID_BYTES = 4;
const PUBLIC_KEY_BYTES = 32;
const ED25519_BYTES = 64;
const TIMESTAMP_BYTES = 8;

/** A public key under a name, with which notes are verified: what a vkey says. */
export interface NoteKey {
  readonly name: string;
  readonly type: SignatureType;
  /** 8 hex digits. */
  readonly id: string;
  readonly publicKey: KeyObject;
}

/** A private key under a name. */
export interface NoteSigner extends NoteKey {
  readonly privateKey: KeyObject;
}

interface NoteSignature {
  readonly name: string;
  /** 8 hex digits. */
  readonly keyId: string;
  /** What follows the key's id. */
  readonly bytes: Buffer;
}

export interface Note {
  /** What is signed: ends in a newline. */
  readonly text: string;
  readonly signatures: readonly NoteSignature[];
}

/** A key that is known, whose signature a note has. */
export interface Verified {
  readonly key: NoteKey;
  /** The time that a cosignature states, in milliseconds since the epoch; null for any other signature. */
  readonly at: number | null;
}

/** @throws Problem where the name cannot be a key's */
export function noteKey(name: string, type: SignatureType, publicKey: KeyObject): NoteKey {
  if (!isKeyName(name)) fail(invalid, `"${name}" cannot be a key's name: it must have no spaces and no plus`);
  const id = sha256(Buffer.concat([Buffer.from(`${name}\n`), encodedKey(type, publicKey)]))
    .subarray(0, KEY_ID_BYTES)
    .toString("hex");
  return { name, type, id, publicKey };
}

/** @param privateKey Ed25519 @throws Problem where the name cannot be a key's */
export const noteSigner = (name: string, type: SignatureType, privateKey: KeyObject): NoteSigner => ({
  ...noteKey(name, type, createPublicKey(privateKey)),
  privateKey,
});

/** A key as people hand it on: `name+id+base64(type ‖ public key)`. */
export const vkeyOf = ({ name, id, type, publicKey }: NoteKey): string =>
  `${name}+${id}+${encodedKey(type, publicKey).toString("base64")}`;

/** @throws Problem that says what is wrong with it */
export function parseVkey(vkey: string): NoteKey {
  const [, name = "", id, encoded = ""] = /^([^+]{1,512})\+([0-9a-f]{8})\+([A-Za-z0-9+/=]{1,64})$/.exec(vkey) ?? [];
  const bytes = fromBase64(encoded);
  if (!bytes || !isKeyName(name)) fail(invalid, "it is no verifier key: that reads NAME+ID+KEY, as the log printed it");
  const type = bytes[0];
  if (type !== ED25519 && type !== COSIGNATURE_V1)
    fail(
      invalid,
      `its signatures are of type ${type}, which is not known here: 1 (Ed25519) and 4 (cosignature/v1) are`,
    );
  if (bytes.length !== 1 + PUBLIC_KEY_BYTES) fail(invalid, "its key is no Ed25519 key: that has 32 bytes");
  const key = noteKey(name, type, publicKeyOf(bytes.subarray(1)));
  if (key.id !== id) fail(invalid, "its id does not fit its name and key: something of it was altered or lost");
  return key;
}

/** Reads a note without verifying anything. @throws Problem where it is none */
export function parseNote(note: string): Note {
  if (note.length > MAX_NOTE_CHARS) fail(invalid, `it is longer than a note may be (${MAX_NOTE_CHARS} characters)`);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  if (!note.isWellFormed() || /[\x00-\x09\x0b-\x1f]/.test(note)) fail(invalid, "it has characters that no note has");
  const end = note.lastIndexOf("\n\n");
  if (end < 0 || !note.endsWith("\n"))
    fail(invalid, "it is no signed note: that has a text, an empty line and signatures");
  const lines = note.slice(end + 2, -1).split("\n", MAX_SIGNATURES + 1);
  if (lines.length > MAX_SIGNATURES) fail(invalid, `it has more than ${MAX_SIGNATURES} signatures`);
  return { text: note.slice(0, end + 1), signatures: lines.map(parseSignature) };
}

function parseSignature(line: string): NoteSignature {
  const [, name = "", encoded = ""] = /^— ([^ ]{1,512}) ([A-Za-z0-9+/=]+)$/.exec(line) ?? [];
  const bytes = fromBase64(encoded);
  if (!bytes || bytes.length <= KEY_ID_BYTES || !isKeyName(name)) fail(invalid, "it has a line that is no signature");
  return { name, keyId: bytes.subarray(0, KEY_ID_BYTES).toString("hex"), bytes: bytes.subarray(KEY_ID_BYTES) };
}

/**
 * Which of the known keys signed a note; signatures of others are passed over.
 * @throws Problem where a signature that names a known key is not that key's
 */
export function verifiedBy(note: Note, known: readonly NoteKey[]): Verified[] {
  return known.flatMap((key) => {
    const own = note.signatures.filter(({ name, keyId }) => name === key.name && keyId === key.id);
    return own.map(({ bytes }) => verifySignature(note.text, bytes, key)).slice(0, 1);
  });
}

function verifySignature(text: string, bytes: Buffer, key: NoteKey): Verified {
  const isTimed = key.type === COSIGNATURE_V1;
  const seconds = isTimed && bytes.length >= TIMESTAMP_BYTES ? Number(bytes.readBigUInt64BE()) : 0;
  const signature = bytes.subarray(isTimed ? TIMESTAMP_BYTES : 0);
  const message = isTimed ? cosignedMessage(text, seconds) : text;
  const isSound = signature.length === ED25519_BYTES && seconds <= MAX_SECONDS;
  if (!isSound || !verify(null, Buffer.from(message), key.publicKey, signature))
    fail(invalid, `the signature that names ${key.name} (${key.id}) is not of that key and this text`);
  return { key, at: isTimed ? seconds * 1000 : null };
}

const cosignedMessage = (text: string, seconds: number) => `cosignature/v1\ntime ${seconds}\n${text}`;

/**
 * The line with which a key signs a text.
 * @param text ends in a newline
 * @param at milliseconds since the epoch; only cosignatures state it
 */
export function signatureLine(text: string, signer: NoteSigner, at: number): string {
  const isTimed = signer.type === COSIGNATURE_V1;
  const seconds = Math.floor(at / 1000);
  const message = isTimed ? cosignedMessage(text, seconds) : text;
  const timestamp = Buffer.alloc(isTimed ? TIMESTAMP_BYTES : 0);
  if (isTimed) timestamp.writeBigUInt64BE(BigInt(seconds));
  const signature = sign(null, Buffer.from(message), signer.privateKey);
  return `— ${signer.name} ${Buffer.concat([Buffer.from(signer.id, "hex"), timestamp, signature]).toString("base64")}\n`;
}

/** A text with the signature of a log. @param text ends in a newline @param signer of type `ED25519` */
export const signNote = (text: string, signer: NoteSigner): string => `${text}\n${signatureLine(text, signer, 0)}`;

/** Decodes standard, padded base64 (RFC 4648 section 4); undefined when the text is not what encoding gives. */
export function fromBase64(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, "base64");
  return text !== "" && bytes.toString("base64") === text ? bytes : undefined;
}

const isKeyName = (name: string) =>
  name !== "" && name.length <= MAX_NAME_CHARS && name.isWellFormed() && !/[\p{White_Space}\p{Cc}+]/u.test(name);

function encodedKey(type: SignatureType, publicKey: KeyObject): Buffer {
  if (publicKey.asymmetricKeyType !== "ed25519") fail(invalid, "the key is no Ed25519 key");
  return Buffer.concat([Buffer.of(type), Buffer.from(publicKey.export({ format: "jwk" }).x as string, "base64url")]);
}

const publicKeyOf = (bytes: Buffer): KeyObject =>
  createPublicKey({ format: "jwk", key: { kty: "OKP", crv: "Ed25519", x: bytes.toString("base64url") } });
