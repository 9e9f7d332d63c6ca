/**
 * Transparency: the log's Merkle tree (RFC 6962 and RFC 9162, in the formats of C2SP), its signed checkpoints, the receipts and proofs
 * that follow from them. It knows leaves by their hashes alone.
 * Not here: what leaves tell of (log, audit); how proofs are written and checked by those who have none of our files (kit).
 */
export {
  type Checkpoint,
  checkpoint,
  proveGrowth,
  proveLeaf,
  receiptFor,
  signStatement,
} from "./checkpoint.ts";
export { currentEpoch, epochs } from "./epoch.ts";
export {
  isImportSound,
  logImports,
  recordImport,
  rootOfParts,
  subtreesBetween,
} from "./imports.ts";
export { appendLeaf, findLeaf, isLeaf, nextLeaf } from "./leaves.ts";
export { ledgerKeys } from "./ledger-key.ts";
export { signedBeside } from "./open-epoch.ts";
export { recomputeTree } from "./recompute.ts";
export { hasTree, rootOfFirst, type TreeHead, treeHead } from "./tree.ts";
export { lastCheckpoint } from "./written.ts";
