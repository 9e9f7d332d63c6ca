import type { Core } from "../../core.ts";
import { baseUrlOf } from "../../kit/base-url.ts";
import { isoInstant } from "../../kit/clock.ts";
import { signJwt, type Verdict, verifyJwt } from "../../kit/jwt.ts";
import { ensureSigningKey } from "../../platform/keys/keys.ts";
import type { Team } from "../teams/teams.ts";
import { judgeSubscription, licenseEnd, type SubscriptionFacts } from "./rules.ts";

const TYP = "license+jwt";
const AUDIENCE = "reckon:license";

type Licensee = SubscriptionFacts & Pick<Team, "id" | "seats" | "tier">;

/** Signs a licence for a team that is entitled to one. @param days its lifetime at most; the configured one by default */
export async function mintLicense(
  core: Core,
  team: Licensee,
  deviceId: string | null,
  days = core.config.licenseDays,
): Promise<string | undefined> {
  const now = core.clock.now();
  const entitlement = judgeSubscription(team, now);
  if (!entitlement.licensed) return undefined;
  const key = await ensureSigningKey(core);
  const claims = {
    iss: baseUrlOf(core.config),
    aud: AUDIENCE,
    sub: team.id,
    team: team.id,
    seats: team.seats,
    tier: team.tier,
    status: entitlement.status,
    ...(deviceId === null ? {} : { device: deviceId }),
  };
  return signJwt(key, TYP, claims, Math.floor(now / 1000), licenseEnd(now, days, entitlement.until));
}

/** The licence a new binding carries; undefined when the team has none or signing is off or in trouble, which must not fail the binding. */
export async function licenseFor(core: Core, team: Licensee, deviceId: string): Promise<string | undefined> {
  if (core.config.signing === "off") return undefined;
  try {
    return await mintLicense(core, team, deviceId);
  } catch (error) {
    core.log.error("license_signing_failed", { cause: String(error) });
    return undefined;
  }
}

/**
 * Judges a licence with nothing but its text and public keys: no database, no network.
 * @param publicPem one key or several, as `reckon key export` prints them
 * @param isNow whether `at` is this machine's time: its clock may be slow, so a licence from its future is accepted then
 * @throws Problem when the keys cannot be read
 */
export async function verifyLicense(license: string, publicPem: string, at: Date, isNow = true): Promise<Verdict> {
  const verdict = await verifyJwt(license.trim(), publicPem, { typ: TYP, audience: AUDIENCE, at });
  const issuedAt = Number(verdict.claims?.iat) * 1000;
  if (isNow || !verdict.valid || issuedAt <= at.getTime()) return verdict;
  return { valid: false, claims: verdict.claims, reason: `it was issued after that, at ${isoInstant(issuedAt)}` };
}
