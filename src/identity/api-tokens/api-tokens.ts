/**
 * API tokens, with which programs read the records of a team or of the whole installation, or administer; and how often they do.
 * Not here: what is read with one (share/read-api), tokens that ask brains questions (read-tokens).
 */
export { devicesOfPerson, isOf, teamRead } from "./narrow.ts";
export {
  type ApiPrincipal,
  type ApiScope,
  type ApiTokenFacts,
  apiToken,
  apiTokenIdsOf,
  createApiToken,
  endApiTokens,
  eraseApiTokens,
  expiringApiTokens,
  getApiToken,
  type IssuedApiToken,
  listApiTokens,
  MAX_LIFETIME_DAYS,
  type NewApiToken,
  revokeApiToken,
} from "./tokens.ts";
export { apiReads, recordApiRead } from "./uses.ts";
