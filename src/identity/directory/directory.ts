/**
 * Directory: what the directory of an issuer of single sign-on says of its people and groups, and the tokens that it comes with.
 * Not here: how it says so, and what follows for accounts and teams (scim); whom an issuer vouches for (sso).
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
