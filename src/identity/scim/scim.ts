/**
 * SCIM: how a directory provisions people and groups (RFC 7643, RFC 7644), and what follows for accounts and teams.
 * Not here: the records of a directory and its tokens (directory), signing in by its issuer (sso).
 */

/** The address to configure in a directory, below the base URL. */
export const SCIM_PATH = "/scim/v2";
