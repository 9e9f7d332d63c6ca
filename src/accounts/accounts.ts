/**
 * Accounts: teams, their tiers and subscriptions, and whose a credential is.
 * Not here: how a device gets its credential (connect), what a subscription entitles to offline (license).
 */

export { findDevice, watchPrincipals } from "./principals.ts";
export type { Subscription, Team } from "./rows.ts";
export { createTeam, findTeam, getTeam, listTeams, updateTeam } from "./teams.ts";
export { requireCapability, SUBSCRIPTIONS, TIERS } from "./tiers.ts";
