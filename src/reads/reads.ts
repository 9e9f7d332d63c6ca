/**
 * Reads: a person's read tokens, what each may read of the brains of their teams, and the record of every read.
 * Not here: how brains are stored and searched (brain), who is in which team (accounts).
 */
export { listReads, type Read, type ReadPage } from "./list.ts";
export { findReader } from "./reader.ts";
export {
  createReadToken,
  DEFAULT_LIFETIME_MS,
  type IssuedReadToken,
  LONGEST_LIFETIME_MS,
  listAllReadTokens,
  listReadTokens,
  type NewReadToken,
  type ReadTokenFacts,
  revokeAnyReadToken,
  revokeReadToken,
} from "./tokens.ts";
