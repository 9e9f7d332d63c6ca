import type { Core } from "../../core.ts";
import type { Actor } from "../../platform/audit/audit.ts";
import { endApiTokens } from "../api-tokens/api-tokens.ts";
import { endCliTokens, withdrawApprovals } from "../device-flow/device-flow.ts";
import { directoryGroups } from "../directory/directory.ts";
import { syncMemberships } from "../members/members.ts";
import { revokeResetLinks } from "../one-time-links/one-time-links.ts";
import { removePassword, type User } from "../people/people.ts";
import { endReadTokens } from "../read-tokens/read-tokens.ts";
import { eraseFactors } from "../second-factor/second-factor.ts";
import { endSessionsOf } from "../web-sessions/web-sessions.ts";
import { findIssuer, rolesBy } from "./issuers.ts";
import { rows } from "./rows.ts";

/**
 * Leaves whom an issuer vouches for as the only one in an account that is theirs by its address alone; call inside the transaction that
 * gives it to them. Nobody ever proved that address: whoever chose the password, before the domain was listed, may have been somebody
 * else, and would have all that the groups give from then on. So all their ways in end. An account without a password has none but
 * those that an issuer gave.
 */
export function endOtherWaysIn(core: Core, user: User, by: Actor): void {
  if (user.passwordHash === null) return;
  removePassword(core, user, by);
  endLinks(core, user, by);
  revokeResetLinks(core, user.id);
  eraseFactors(core, user.id);
  endSessionsOf(core, user.id);
  withdrawApprovals(core, user.id);
  endCliTokens(core, user, by);
  endReadTokens(core, user.id, by);
  endApiTokens(core, user.id, by);
}

/** Ends what issuers said of who was linked, with what those groups gave: no sign-in by them would ever take it back. */
function endLinks(core: Core, user: User, by: Actor): void {
  for (const issuerId of new Set(
    rows(core.store)
      .identitiesOf.all(user.id)
      .map((link) => link.issuerId),
  )) {
    const issuer = findIssuer(core, issuerId);
    // What a directory says is of the account itself, whoever signs in to it.
    const groups = directoryGroups(core, issuerId, user.id);
    syncMemberships(core, user, issuerId, issuer && groups ? rolesBy(issuer, groups) : new Map(), by);
  }
  rows(core.store).dropIdentitiesOf.run(user.id);
}
