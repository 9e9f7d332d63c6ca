/**
 * Directory: what an issuer's directory says of its people and groups, and the tokens that it signs in with.
 * Not here: the protocol, and what follows for accounts and teams (scim); signing in by an issuer (sso).
 */
export {
  accountByExternalId,
  directoryGroups,
  directoryKey,
  directoryRecords,
  eraseDirectoryRecords,
  forgetDirectory,
  type GroupColumn,
  isProvisioned,
  reviewDirectory,
  type UserColumn,
} from "./records.ts";
export type { GroupRecord, UserRecord } from "./rows.ts";
export {
  createScimToken,
  listScimTokens,
  revokeScimToken,
  type ScimPrincipal,
  type ScimTokenFacts,
  scimToken,
  touchScimToken,
  writeByScim,
} from "./tokens.ts";
