import { refuse, tierGate } from "../../platform/http/faults.ts";
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

/** @throws Refusal tierGate (402) whose `entitled` lists the tiers that would include it. */
export function requireCapability(tier: Tier, capability: Capability): void {
  if (INCLUDES[tier].includes(capability)) return;
  refuse(tierGate, {
    error: `The tier "${tier}" does not include ${capability}.`,
    members: { entitled: tiersWith(capability) },
  });
}
