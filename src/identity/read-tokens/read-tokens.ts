/**
 * Reads: a person's read tokens, what each may read of the brains of their teams, and the record of every read.
 * Not here: how brains are stored and searched (brain), who is in which team (accounts).
 */
export { listReads } from "./list.ts";
export { findReader } from "./reader.ts";
export type { ReadScope } from "./scope.ts";
export {
  createReadToken,
  endReadTokens,
  type IssuedReadToken,
  listAllReadTokens,
  listReadTokens,
  type NewReadToken,
  type ReadTokenFacts,
  revokeAnyReadToken,
  revokeReadToken,
} from "./tokens.ts";
