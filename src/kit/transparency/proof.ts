import { HASH_BYTES, MAX_PROOF_HASHES } from "../merkle.ts";
import { fail, invalid } from "../problem.ts";
import { wholeNumberOf } from "./checkpoint.ts";
import { fromBase64 } from "./note.ts";

/** Bytes of a file with a proof, at most. */
export const MAX_PROOF_BYTES = 1024 * 1024;

export const PROOF_HEADER = "c2sp.org/tlog-proof@v1";

/** A proof that a leaf is in a log (C2SP tlog-proof). */
export interface TlogProof {
  /** Data that the application adds; no signature covers it. */
  readonly extra: Buffer | null;
  readonly index: number;
  /** The audit path, from the leaf's sibling up. */
  readonly hashes: readonly Buffer[];
  /** The signed note as it was issued. */
  readonly checkpoint: string;
}

/** A proof that a log only grew, in the form that witnesses take (C2SP tlog-witness, add-checkpoint). */
export interface GrowthProof {
  /** Size of the older tree; the checkpoint has the newer one. */
  readonly oldSize: number;
  readonly hashes: readonly Buffer[];
  readonly checkpoint: string;
}

const linesOf = (hashes: readonly Uint8Array[]) =>
  hashes.map((one) => `${Buffer.from(one).toString("base64")}\n`).join("");

/** A proof of inclusion as text, see C2SP tlog-proof. */
export const writeTlogProof = ({ extra, index, hashes, checkpoint }: TlogProof): string =>
  `${PROOF_HEADER}\n${extra ? `extra ${extra.toString("base64")}\n` : ""}index ${index}\n${linesOf(hashes)}\n${checkpoint}`;

/** @throws Problem where it is none; the checkpoint is not looked at */
export function parseTlogProof(text: string): TlogProof {
  const { head, checkpoint } = split(text);
  if (head.shift() !== PROOF_HEADER) fail(invalid, `it is no proof: that begins with ${PROOF_HEADER}`);
  const extra = head[0]?.startsWith("extra ") ? fromBase64((head.shift() as string).slice(6)) : null;
  if (extra === undefined) fail(invalid, "what it adds is no base64");
  const index = numberAfter("index ", head.shift());
  return { extra, index, hashes: hashesOf(head), checkpoint };
}

/** A proof that a log only grew, as text. */
export const writeGrowthProof = ({ oldSize, hashes, checkpoint }: GrowthProof): string =>
  `old ${oldSize}\n${linesOf(hashes)}\n${checkpoint}`;

/** @throws Problem where it is none; the checkpoint is not looked at */
export function parseGrowthProof(text: string): GrowthProof {
  const { head, checkpoint } = split(text);
  const oldSize = numberAfter("old ", head.shift());
  return { oldSize, hashes: hashesOf(head), checkpoint };
}

/** What stands before the first empty line, line by line, and the checkpoint after it. */
function split(text: string): { readonly head: string[]; readonly checkpoint: string } {
  if (text.length > MAX_PROOF_BYTES) fail(invalid, `it is longer than a proof may be (${MAX_PROOF_BYTES} bytes)`);
  const end = text.indexOf("\n\n");
  if (end < 0) fail(invalid, "it has no checkpoint: that comes after an empty line");
  // At most a header, extra data, a number and the hashes: a text with more lines there is no proof.
  return { head: text.slice(0, end).split("\n", MAX_PROOF_HASHES + 4), checkpoint: text.slice(end + 2) };
}

function numberAfter(label: string, line = ""): number {
  const number = line.startsWith(label) ? wholeNumberOf(line.slice(label.length)) : undefined;
  return number ?? fail(invalid, `it has no line "${label}" with a number where that must be`);
}

function hashesOf(lines: readonly string[]): Buffer[] {
  if (lines.length > MAX_PROOF_HASHES) fail(invalid, `it has more than ${MAX_PROOF_HASHES} hashes`);
  return lines.map((line) => {
    const bytes = fromBase64(line);
    return bytes?.length === HASH_BYTES ? bytes : fail(invalid, "a line of its proof is no hash");
  });
}
