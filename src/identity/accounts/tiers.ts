import { fail, problem } from "../../kit/problem.ts";
import type { Subscription, Tier } from "./rows.ts";

export const TIERS = ["none", "starter", "team", "enterprise"] as const satisfies readonly Tier[];
export const SUBSCRIPTIONS = [
  "active",
  "trialing",
  "past_due",
  "canceled",
  "none",
] as const satisfies readonly Subscription[];

/** What a tier may include. */
export type Capability = "telemetry" | "brain" | "traces";

const INCLUDES: Readonly<Record<Tier, readonly Capability[]>> = {
  none: [],
  starter: ["telemetry"],
  team: ["telemetry", "brain", "traces"],
  enterprise: ["telemetry", "brain", "traces"],
};

/** The tiers that include a capability, smallest first. */
export function tiersWith(capability: Capability): Tier[] {
  return TIERS.filter((tier) => INCLUDES[tier].includes(capability));
}

export const tierGate = problem({
  name: "tierGate",
  status: 402,
  code: "payment_required",
  message: "The team's tier does not include this.",
});

/** @throws Problem tierGate (402) whose `entitled` lists the tiers that would include it. */
export function requireCapability(tier: Tier, capability: Capability): void {
  if (INCLUDES[tier].includes(capability)) return;
  fail(tierGate, {
    message: `The tier "${tier}" does not include ${capability}.`,
    members: { entitled: tiersWith(capability) },
  });
}
