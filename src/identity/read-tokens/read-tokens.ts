/**
 * Read tokens, with which programs read the brains of a person's teams, and what each token narrows that to.
 * Not here: the questions, and the record of them (ask), who is in which team (members).
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
