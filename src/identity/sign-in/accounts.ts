import { ConfigError } from "../../config.ts";
import type { Core } from "../../core.ts";
import { newId } from "../../kit/ids.ts";
import { Problem } from "../../kit/problem.ts";
import { type Actor, SYSTEM } from "../../platform/audit/audit.ts";
import { withdrawApprovals } from "../device-flow/device-flow.ts";
import { revokeDevicesOf } from "../devices/devices.ts";
import { directoryRecords } from "../directory/directory.ts";
import { membershipsOf, type Role, storeMember } from "../members/members.ts";
import { createSetupLink, type OneTimeLink, revokeResetLinks } from "../one-time-links/one-time-links.ts";
import {
  emailKey,
  getUser,
  hasUsers,
  readEmail,
  readPersonName,
  storeDisabled,
  storePasswordHash,
  storeUser,
  type User,
} from "../people/people.ts";
import { findTeam } from "../teams/teams.ts";
import { endSessionsOf, requireLive } from "../web-sessions/web-sessions.ts";
import { requireAcceptablePassword } from "./password-rules.ts";
import { hashPassword } from "./passwords.ts";

export interface NewUser {
  readonly email: string;
  readonly name?: string | null;
  readonly password: string;
  /** May run the installation: teams, tiers, everyone's accounts. */
  readonly operator?: boolean;
  readonly team?: { readonly id: string; readonly role: Role };
}

/**
 * Checks a new person's account and makes its row with the password's hash, before the transaction that stores it.
 * @param teams names of the teams that they come into
 * @throws Problem
 */
export async function prepareUser(core: Core, account: NewUser, teams: readonly string[]): Promise<User> {
  const email = readEmail(account.email);
  const name = readPersonName(account.name);
  requireAcceptablePassword(account.password, { email, name, teams });
  return {
    id: newId("usr", core.clock, core.random),
    email,
    emailKey: emailKey(email),
    name,
    passwordHash: await hashPassword(account.password, core.random),
    operator: account.operator ? 1 : 0,
    createdAt: core.clock.now(),
    disabledAt: null,
  };
}

/** Makes an account. @throws Problem when the address or the password will not do */
export async function createUser(core: Core, account: NewUser, by: Actor): Promise<User> {
  const team = account.team && findTeam(core, account.team.id);
  const user = await prepareUser(core, account, team ? [team.name] : []);
  await core.store.write(() => {
    storeUser(core, user, by);
    if (account.team) storeMember(core, account.team.id, user, account.team.role, by);
  });
  return user;
}

/** Judges a password that somebody chooses. @returns its hash @throws Problem */
export async function preparePassword(core: Core, user: User, password: string): Promise<string> {
  requireAcceptablePassword(password, { ...user, teams: membershipsOf(core, user.id).map(({ name }) => name) });
  return hashPassword(password, core.random);
}

/**
 * Changes a password and ends every sign-in except `keepSessionId`.
 * @param keepSessionId the sign-in in which it is done
 * @param alongside ends other things together with the old password; runs inside the transaction
 */
export async function setPassword(
  core: Core,
  userId: string,
  password: string,
  by: Actor,
  keepSessionId?: string,
  alongside: (user: User, by: Actor) => void = () => {},
): Promise<void> {
  const user = getUser(core, userId);
  const hash = await preparePassword(core, user, password);
  await core.store.write(() => {
    // A password set meanwhile, perhaps by an operator, must not be replaced by one that was chosen before it.
    if (keepSessionId !== undefined) requireLive(core, userId, keepSessionId);
    storePassword(core, user, hash, by, keepSessionId);
    alongside(user, by);
  });
}

/** Stores a new password's hash, and ends reset links, approvals and sign-ins of the old one; call inside a transaction. */
export function storePassword(core: Core, user: User, hash: string, by: Actor, keepSessionId?: string): void {
  storePasswordHash(core, user, hash, by);
  revokeResetLinks(core, user.id);
  withdrawApprovals(core, user.id);
  endSessionsOf(core, user.id, keepSessionId);
}

/**
 * Closes an account, or opens it again. Closing ends sign-ins and stops CLI and read tokens; what the person did stays.
 * @param revokeDevices whether the person's machines stop reporting, too; also when the account was closed before
 * @returns whether that was a change
 * @throws Problem for the last operator, without whom nobody could run the installation
 */
export function setDisabled(
  core: Core,
  idOrEmail: string,
  disabled: boolean,
  by: Actor,
  revokeDevices = false,
): Promise<boolean> {
  return core.store.write(() => {
    const user = getUser(core, idOrEmail);
    if (disabled && revokeDevices) revokeDevicesOf(core, user.id, by);
    if (!storeClosed(core, user, disabled, by)) return false;
    directoryRecords.forgetClosed(core, user.id);
    return true;
  });
}

/** Closes an account, or opens it again, as `setDisabled` does; call inside a transaction. @returns whether that was a change */
export function storeClosed(core: Core, user: User, closed: boolean, by: Actor): boolean {
  if (!storeDisabled(core, user, closed, by)) return false;
  if (closed) {
    endSessionsOf(core, user.id);
    // A link that was made before must not open the account by itself once it is open again.
    revokeResetLinks(core, user.id);
  }
  return true;
}

/** What a server did at its start for an installation without accounts. */
export type FirstRun =
  | { readonly did: "nothing" }
  | { readonly did: "operator"; readonly email: string }
  | { readonly did: "link"; readonly link: OneTimeLink };

/**
 * Lets the first person in: makes the operator that the configuration names, or else a one-time set-up link, for which every
 * earlier one stops working. Once anybody has an account nothing happens, whatever is configured.
 * @throws ConfigError when only one of address and password is given, or one of them will not do
 */
export async function firstRun(core: Core): Promise<FirstRun> {
  if (hasUsers(core)) return { did: "nothing" };
  const { adminEmail: email, adminPassword: password } = core.config;
  if (email !== null && password !== null) {
    try {
      const user = await createUser(core, { email, password, operator: true }, SYSTEM);
      return { did: "operator", email: user.email };
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      throw new ConfigError(`RECKON_ADMIN_EMAIL and RECKON_ADMIN_PASSWORD make no first operator: ${error.message}`);
    }
  }
  if (email !== null || password !== null) {
    const [given, missing] = email === null ? ["PASSWORD", "EMAIL"] : ["EMAIL", "PASSWORD"];
    throw new ConfigError(
      `RECKON_ADMIN_${given} is set without RECKON_ADMIN_${missing}: the first operator needs both (or neither, for a set-up link)`,
    );
  }
  const link = await createSetupLink(core);
  return link ? { did: "link", link } : { did: "nothing" };
}
