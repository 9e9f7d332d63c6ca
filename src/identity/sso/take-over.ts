import type { Core } from "../../core.ts";
import type { Actor } from "../../platform/audit/audit.ts";
import { endCliTokens, withdrawApprovals } from "../device-flow/device-flow.ts";
import { revokeResetLinks } from "../one-time-links/one-time-links.ts";
import { removePassword, type User } from "../people/people.ts";
import { endReadTokens } from "../read-tokens/read-tokens.ts";
import { eraseFactors } from "../second-factor/second-factor.ts";
import { endSessionsOf } from "../web-sessions/web-sessions.ts";
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
  rows(core.store).dropIdentitiesOf.run(user.id);
  revokeResetLinks(core, user.id);
  eraseFactors(core, user.id);
  endSessionsOf(core, user.id);
  withdrawApprovals(core, user.id);
  endCliTokens(core, user, by);
  endReadTokens(core, user.id, by);
}
