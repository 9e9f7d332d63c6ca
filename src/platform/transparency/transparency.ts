/**
 * Transparency: the log's Merkle tree (RFC 6962 and RFC 9162, in the formats of C2SP), its signed checkpoints, and the receipts and proofs
 * that follow from them. It knows only the hashes of leaves.
 * Not here: what leaves are about (log, audit); how proofs are written, and checked by people without our files (kit).
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
