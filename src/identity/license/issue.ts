import type { Core } from "../../core.ts";
import { isoInstant } from "../../kit/clock.ts";
import { conflict, fail, invalid, unavailable } from "../../kit/problem.ts";
import { type Actor, recordEvent } from "../../platform/audit/audit.ts";
import { getTeam } from "../teams/teams.ts";
import { mintLicense } from "./mint.ts";
import { type Entitlement, judgeSubscription } from "./rules.ts";

/** The longest lifetime a licence can be asked for. */
export const MAX_LICENSE_DAYS = 3_650;

/** Why a team gets no licence, continuing a sentence. */
const REFUSED = {
  suspended: "its account is suspended",
  canceled: "its subscription was canceled",
  none: "it has no subscription",
  grace_over: "its paid period and the grace after it are over",
} as const;

export interface IssuedLicense {
  /** The signed licence, a compact JWS. */
  readonly license: string;
  readonly teamId: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

/**
 * Signs a licence for somebody who asked for a file of it, and records that they did.
 * @param idOrName the team's id or exact name
 * @param days its lifetime at most; the configured one by default
 * @throws Problem when signing is off, the days are too few or too many, or the team is entitled to none
 */
export async function issueLicense(
  core: Core,
  idOrName: string,
  days = core.config.licenseDays,
  by: Actor,
): Promise<IssuedLicense> {
  if (core.config.signing === "off") fail(unavailable, "licence signing is switched off (RECKON_SIGNING=off)");
  if (!(Number.isSafeInteger(days) && days >= 1 && days <= MAX_LICENSE_DAYS))
    fail(invalid, `a licence lives 1 to ${MAX_LICENSE_DAYS} days`);
  const team = getTeam(core, idOrName);
  const entitlement = judgeSubscription(team, core.clock.now());
  const license = entitlement.licensed ? await mintLicense(core, team, null, days) : undefined;
  if (!entitlement.licensed || license === undefined)
    fail(conflict, `the team "${team.name}" gets no licence: ${refusal(entitlement)}`);
  const expiresAt = expiryOf(license);
  await core.store.write(() =>
    recordEvent(core, by, {
      action: "license.minted",
      teamId: team.id,
      target: { kind: "license", id: null, label: team.name },
      detail: { days, expiresAt: isoInstant(expiresAt), status: entitlement.status, seats: team.seats },
    }),
  );
  return { license, teamId: team.id, expiresAt };
}

/** When a licence of ours ends, as it says itself. */
function expiryOf(license: string): number {
  const claims: unknown = JSON.parse(Buffer.from(license.split(".")[1] as string, "base64url").toString("utf8"));
  return (claims as { exp: number }).exp * 1000;
}

// Its period can end between the judgement and the signature.
const refusal = (entitlement: Entitlement) => REFUSED[entitlement.licensed ? "grace_over" : entitlement.because];
