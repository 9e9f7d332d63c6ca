/**
 * Read tokens: who may read the brains of a person's teams by a token, and what each token narrows that to.
 * Not here: what is asked with one, and the record of it (ask), who is in which team (members).
 */
export { type ReadScope, scopeFilter } from "./scope.ts";
export {
  createReadToken,
  endReadTokens,
  eraseReadTokens,
  type IssuedReadToken,
  listAllReadTokens,
  listReadTokens,
  type NewReadToken,
  type ReadPrincipal,
  type ReadTokenFacts,
  readToken,
  revokeAnyReadToken,
  revokeReadToken,
  touchReadToken,
} from "./tokens.ts";
