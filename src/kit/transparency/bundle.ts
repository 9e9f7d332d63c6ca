import * as v from "valibot";
import { parseJson } from "../json.ts";
import { HASH_BYTES, MAX_PROOF_HASHES, SALT_BYTES } from "../merkle.ts";
import { fail, invalid } from "../problem.ts";
import { fromBase64 } from "./note.ts";
import { MAX_PROOF_BYTES, parseTlogProof, writeTlogProof } from "./proof.ts";

/*
 * A proof as it is handed to an auditor: a C2SP tlog-proof, which other programs read too, whose extra data is a JSON document with
 * what the leaf's hash and the items in it are made of:
 *
 *   { "format": "reckon-ledger-proof/1", "leaf": TEXT,
 *     "items": [{ "index": N, "count": N, "salt": BASE64, "text": TEXT, "path": [BASE64, …] }, …] }
 *
 * The leaf's hash is SHA-256(0x00 ‖ leaf). An item's is SHA-256(0x00 ‖ salt ‖ text), and its path leads to the leaf's `items`.
 */

const FORMAT = "reckon-ledger-proof/1";
const MAX_ITEMS = 1_000;

/** An item that a leaf commits to. */
export interface ItemProof {
  readonly index: number;
  /** Items of the leaf. */
  readonly count: number;
  readonly salt: Buffer;
  readonly text: string;
  readonly path: readonly Buffer[];
}

export interface ProofBundle {
  /** The signed note of the log, with whatever cosignatures it has. */
  readonly checkpoint: string;
  /** Of the leaf, from 0. */
  readonly index: number;
  /** What was hashed, to the byte. */
  readonly leaf: string;
  readonly inclusion: readonly Buffer[];
  readonly items: readonly ItemProof[];
}

const whole = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
const wellFormed = v.pipe(
  v.string(),
  v.check((text) => text.isWellFormed()),
);
const bytes = (length: number) =>
  v.pipe(
    v.string(),
    v.transform((text) => fromBase64(text) ?? Buffer.alloc(0)),
    v.check(({ length: found }) => found === length),
  );
const Added = v.strictObject({
  format: v.literal(FORMAT),
  leaf: wellFormed,
  items: v.pipe(
    v.array(
      v.strictObject({
        index: whole,
        count: whole,
        salt: bytes(SALT_BYTES),
        text: wellFormed,
        path: v.pipe(v.array(bytes(HASH_BYTES)), v.maxLength(MAX_PROOF_HASHES)),
      }),
    ),
    v.maxLength(MAX_ITEMS),
  ),
});

/** Writes a proof as the text that `readBundle` reads. @throws Problem when it would be longer than 1 MiB */
export function writeBundle({ checkpoint, index, leaf, inclusion, items }: ProofBundle): string {
  const extra: v.InferInput<typeof Added> = {
    format: FORMAT,
    leaf,
    items: items.map((item) => ({
      index: item.index,
      count: item.count,
      salt: item.salt.toString("base64"),
      text: item.text,
      path: item.path.map((one) => one.toString("base64")),
    })),
  };
  const text = writeTlogProof({ extra: Buffer.from(JSON.stringify(extra)), index, hashes: inclusion, checkpoint });
  if (Buffer.byteLength(text) > MAX_PROOF_BYTES)
    fail(invalid, `the proof would be longer than ${MAX_PROOF_BYTES} bytes: prove fewer items at once`);
  return text;
}

/** Reads a proof without verifying anything. @throws Problem that says why it is none */
export function readBundle(text: string): ProofBundle {
  const { extra, index, hashes, checkpoint } = parseTlogProof(text);
  if (!extra) fail(invalid, "it does not say what its leaf is: it comes from another program");
  const added = v.safeParse(Added, parseJson(extra.toString("utf8")));
  if (!added.success)
    fail(invalid, "what it says of its leaf and items cannot be read: it comes from another program or version");
  return { checkpoint, index, inclusion: hashes, leaf: added.output.leaf, items: added.output.items };
}
