import * as v from "valibot";
import { MAX_SEATS, SUBSCRIPTIONS, type Team, TIERS, updateTeam } from "../../../identity/teams/teams.ts";
import { isoInstant } from "../../../kit/clock.ts";
import { SYSTEM } from "../../../platform/audit/audit.ts";
import { InstantText } from "./instant.ts";
import { control } from "./route.ts";

const Change = v.strictObject({
  tier: v.optional(v.picklist(TIERS)),
  subscription: v.optional(v.picklist(SUBSCRIPTIONS)),
  suspended: v.optional(v.boolean()),
  periodEnd: v.optional(v.nullable(InstantText)),
  seats: v.optional(v.pipe(v.number(), v.safeInteger(), v.minValue(0), v.maxValue(MAX_SEATS))),
});

/** A team as the control routes tell of it. */
export const describeTeam = ({ id, name, tier, seats, subscription, periodEndAt, suspendedAt }: Team) => ({
  id,
  name,
  tier,
  seats,
  subscription,
  periodEnd: periodEndAt === null ? null : isoInstant(periodEndAt),
  suspended: suspendedAt !== null,
});

export const teamRoute = control(
  {
    method: "POST",
    path: "/_dev/team",
    description: `changes the team: tier (${TIERS.join(", ")}), subscription (${SUBSCRIPTIONS.join(", ")}), suspended, periodEnd (ISO 8601 or null), seats`,
    body: Change,
    example: { tier: "starter" },
  },
  async ({ local: { core, credentials }, body: { periodEnd, ...change } }) => {
    const periodEndAt = typeof periodEnd === "string" ? Date.parse(periodEnd) : periodEnd;
    const given = Object.entries({ ...change, periodEndAt }).filter(([, value]) => value !== undefined);
    return { team: describeTeam(await updateTeam(core, credentials.teamId, Object.fromEntries(given), SYSTEM)) };
  },
);
