import { type Core, slot } from "../../core.ts";
import { consistencyProof, inclusionProof } from "../../kit/merkle.ts";
import { fail, invalid, unavailable } from "../../kit/problem.ts";
import { type Checkpoint as CheckpointFacts, checkpointText } from "../../kit/transparency/checkpoint.ts";
import { parseNote, signNote } from "../../kit/transparency/note.ts";
import { writeGrowthProof } from "../../kit/transparency/proof.ts";
import { currentEpoch } from "./epoch.ts";
import { ledgerSigner } from "./ledger-key.ts";
import { requireOwnEpoch } from "./open-epoch.ts";
import { tree, treeHead } from "./tree.ts";

/** A signed head of the log. */
export interface Checkpoint extends CheckpointFacts {
  /** The signed note (C2SP tlog-checkpoint and signed-note). */
  readonly note: string;
  readonly signature: Buffer;
}

const signed = slot(() => ({ last: undefined as Checkpoint | undefined }));

/**
 * Signs the tree as it is committed now; once for everybody who asks before it grows.
 * @returns undefined before a server started on this database
 * @throws BrokenTree; Problem (conflict) on a database that was restored, until a server started on it
 */
export function checkpoint(core: Core): Checkpoint | undefined {
  const state = signed(core);
  const { size, root } = treeHead(core);
  const origin = currentEpoch(core)?.origin;
  if (origin === undefined) return undefined;
  if (state.last?.size === size && state.last.origin === origin) return state.last;
  // Otherwise two trees of one size could be signed under one name.
  requireOwnEpoch(core);
  const head = { origin, size, root };
  const note = signNote(checkpointText(head), ledgerSigner(core));
  const [line] = parseNote(note).signatures;
  state.last = { ...head, note, signature: line?.bytes ?? Buffer.alloc(0) };
  return state.last;
}

/**
 * Proves that the log only grew since it had a size (RFC 9162 section 2.1.4), for a witness that gets a file.
 * @throws Problem when it never had that size, or nothing is signed yet
 */
export function proveGrowth(core: Core, oldSize: number): string {
  const head = checkpoint(core) ?? fail(unavailable, "no server started on this database yet");
  if (oldSize > head.size) fail(invalid, `the log has ${head.size} leaves`);
  const hashes = consistencyProof(oldSize, head.size, tree(core).nodeAt);
  return writeGrowthProof({ oldSize, hashes, checkpoint: head.note });
}

/** Signs a statement of the log that is no checkpoint. @param text lines; they are put under the log's name */
export function signStatement(core: Core, text: string): string {
  const signer = ledgerSigner(core);
  return signNote(`${signer.name}\n${text}\n`, signer);
}

/**
 * A receipt, with which a sender can prove that its delivery was accepted: the leaf's index, the size of a tree with it, the leaf's hash,
 * the root and the checkpoint's signature, and the salt of the body's digest in the leaf. Six parts separated by dots, the last four in
 * base64url. The server keeps the salt nowhere.
 * @param n the leaf's number; committed
 * @param salt in base64url
 * @returns undefined when the tree cannot be signed
 */
export function receiptFor(core: Core, n: number, salt: string): string | undefined {
  // Deliveries that were committed together share a checkpoint: the first one signed it.
  const { last } = signed(core);
  const head = last && last.size >= n ? last : signable(core);
  if (!head || head.size < n) return undefined;
  const parts = [tree(core).nodeAt(0, n - 1), head.root, head.signature].map((bytes) => bytes.toString("base64url"));
  return [n - 1, head.size, ...parts, salt].join(".");
}

/**
 * The checkpoint for a receipt. A delivery is as durable without a receipt, and the ledger's own job reports what keeps the tree from being
 * signed.
 */
function signable(core: Core): Checkpoint | undefined {
  try {
    return checkpoint(core);
  } catch {
    return undefined;
  }
}

/** Proves that a leaf is in the tree of its checkpoint (RFC 9162 section 2.1.3). */
export interface Inclusion {
  readonly index: number;
  readonly checkpoint: Checkpoint;
  readonly hashes: readonly Buffer[];
}

/**
 * Proves that a leaf is in the log.
 * @param head the checkpoint to prove it against: the log as it is now, or was
 * @returns undefined when there is no such leaf, or nothing is signed yet
 * @throws BrokenTree
 */
export function proveLeaf(
  core: Core,
  n: number,
  head: Checkpoint | undefined = checkpoint(core),
): Inclusion | undefined {
  if (!head || n < 1 || n > head.size) return undefined;
  return { index: n - 1, checkpoint: head, hashes: inclusionProof(n - 1, head.size, tree(core).nodeAt) };
}
