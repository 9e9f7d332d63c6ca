import { DAY_MS } from "../../kit/clock.ts";
import type { Subscription } from "../teams/teams.ts";

/** How long a team stays licensed after its paid period ended unpaid. */
export const GRACE_DAYS = 14;

export interface SubscriptionFacts {
  readonly subscription: Subscription;
  readonly subscriptionChangedAt: number;
  readonly periodEndAt: number | null;
  readonly suspendedAt: number | null;
}

export type Entitlement =
  | { readonly licensed: true; readonly status: "active" | "trialing" | "past_due"; readonly until: number | null }
  | { readonly licensed: false; readonly because: "suspended" | "canceled" | "none" | "grace_over" };

/**
 * Whether a team may have a licence, with which status, and until when at most (milliseconds; null for no end).
 * A paid period that ended without news counts as past due: fourteen days of grace from its end. A subscription marked
 * past due without a period's end has its grace from the day it was marked.
 */
export function judgeSubscription(facts: SubscriptionFacts, now: number): Entitlement {
  if (facts.suspendedAt !== null) return { licensed: false, because: "suspended" };
  if (facts.subscription === "canceled" || facts.subscription === "none")
    return { licensed: false, because: facts.subscription };
  const ended = facts.periodEndAt !== null && facts.periodEndAt <= now;
  const status = ended ? "past_due" : facts.subscription;
  const graceFrom = facts.periodEndAt ?? (facts.subscription === "past_due" ? facts.subscriptionChangedAt : null);
  const until = graceFrom === null ? null : graceFrom + GRACE_DAYS * DAY_MS;
  if (until !== null && until <= now) return { licensed: false, because: "grace_over" };
  return { licensed: true, status, until };
}

/** When a licence issued now ends, in seconds: its lifetime, capped by the paid period and its grace. */
export function licenseEnd(now: number, days: number, until: number | null): number {
  return Math.floor(Math.min(now + days * DAY_MS, until ?? Number.POSITIVE_INFINITY) / 1000);
}
