/**
 * Accounts: teams with their tiers, people and their roles in them, sign-ins, one-time links, and whose a credential is.
 * Not here: how a device gets its credential (connect), how a command-line tool does (login), what a token may read (reads),
 * what a subscription entitles to offline (license).
 */

export { type FirstRun, firstRun } from "./first-run.ts";
export { acceptAs, acceptAsNew, type FirstTeam, resetPassword, setUp } from "./link-uses.ts";
export {
  createInvitation,
  createMemberResetLink,
  createResetLink,
  createSetupLink,
  getLink,
  listInvitations,
  type OneTimeLink,
  revokeInvitation,
} from "./links.ts";
export { changeRole, countMembers, getMember, listMembers, MAX_LISTED, removeMember, setRole } from "./members.ts";
export type { Member, Role } from "./people-rows.ts";
export { findDevice } from "./principals.ts";
export type { Subscription, Team } from "./rows.ts";
export {
  actorOf,
  endSession,
  findSession,
  listSessions,
  SESSION_LIFETIME_MS,
  signOutEverywhere,
  switchTeam,
  touchSession,
} from "./sessions.ts";
export { confirmPassword, signIn } from "./sign-in.ts";
export { createTeam, findTeam, getTeam, listTeams, pageOfTeams, type TeamChange, updateTeam } from "./teams.ts";
export { requireCapability, SUBSCRIPTIONS, TIERS, tierGate, tiersWith } from "./tiers.ts";
export {
  createUser,
  findUser,
  getListedUser,
  getUser,
  hasUsers,
  type ListedUser,
  listUsers,
  membershipsOf,
  pageOfUsers,
  ROLES,
  renameUser,
  roleIn,
  setDisabled,
  setOperator,
  setPassword,
} from "./users.ts";
