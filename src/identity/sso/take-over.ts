import type { Core } from "../../core.ts";
import { conflict, fail } from "../../kit/problem.ts";
import { type Actor, recordEvent } from "../../platform/audit/audit.ts";
import { endApiTokens } from "../api-tokens/api-tokens.ts";
import { endCliTokens, withdrawApprovals } from "../device-flow/device-flow.ts";
import { directoryGroups } from "../directory/directory.ts";
import { syncMemberships } from "../members/members.ts";
import { revokeResetLinks } from "../one-time-links/one-time-links.ts";
import { getUser, removePassword, type User } from "../people/people.ts";
import { endReadTokens } from "../read-tokens/read-tokens.ts";
import { eraseFactors } from "../second-factor/second-factor.ts";
import { endSessionsOf } from "../web-sessions/web-sessions.ts";
import { findIssuer, rolesBy } from "./issuers.ts";
import { rows } from "./rows.ts";

/**
 * Ends all other ways into an account that goes to a person only because an issuer vouches for its address; call inside the transaction
 * that links it. Nobody ever proved that address: the password may have been chosen by somebody else, before the domain was listed, who
 * would have all that the groups give from then on. An account without a password has only ways in that an issuer gave.
 */
function endOthers(core: Core, user: User, by: Actor): void {
  if (user.passwordHash !== null) endWays(core, user, by);
}

/** Ends all ways into an account, and allows an issuer to sign somebody else in to it; call inside a transaction. */
function endAll(core: Core, user: User, by: Actor): void {
  endWays(core, user, by);
  rows(core.store).dropHoldersOf.run(user.id);
}

function endWays(core: Core, user: User, by: Actor): void {
  if (user.passwordHash !== null) removePassword(core, user, by);
  endLinks(core, user, by);
  revokeResetLinks(core, user.id);
  eraseFactors(core, user.id);
  endSessionsOf(core, user.id);
  withdrawApprovals(core, user.id);
  endCliTokens(core, user, by);
  endReadTokens(core, user.id, by);
  endApiTokens(core, user.id, by);
}

/**
 * Frees an account for the next person whom an issuer names by its address: all ways into it end.
 * @throws Problem 409 for an operator's account, which is never linked by its address
 */
function release(core: Core, idOrEmail: string, by: Actor): Promise<void> {
  return core.store.write(() => {
    const user = getUser(core, idOrEmail);
    const { id, email } = user;
    if (user.operator === 1) fail(conflict, `${email} runs this installation, and links single sign-on by hand.`);
    endAll(core, user, by);
    recordEvent(core, by, { action: "sso.unlinked", teamId: null, target: { kind: "user", id, label: email } });
  });
}

/** Ends a person's links to issuers, with the memberships from their groups: no sign-in by them would ever take these back. */
function endLinks(core: Core, user: User, by: Actor): void {
  for (const issuerId of new Set(
    rows(core.store)
      .identitiesOf.all(user.id)
      .map((link) => link.issuerId),
  )) {
    const issuer = findIssuer(core, issuerId);
    // A directory's groups belong to the account itself, whoever signs in to it.
    const groups = directoryGroups(core, issuerId, user.id);
    syncMemberships(core, user, issuerId, issuer && groups ? rolesBy(issuer, groups) : new Map(), by);
  }
  rows(core.store).dropIdentitiesOf.run(user.id);
}

/** Whether an issuer ever signed a person in to an account: then it is nobody else's until it is released. */
const isHeld = ({ store }: Core, userId: string): boolean => rows(store).isHeld.get(userId) === 1;

/** Other people's ways into an account that somebody gets by its address. */
export const waysIn = { endOthers, endAll, release, isHeld };
