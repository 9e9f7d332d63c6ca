import type { Team } from "../../../../identity/accounts/accounts.ts";
import { type Entitlement, GRACE_DAYS } from "../../../../identity/license/license.ts";
import { DAY_MS } from "../../../../kit/clock.ts";
import { type Content, html } from "../../../../kit/html.ts";
import type { Kind } from "../../ui/parts.ts";
import { plural, time } from "../../ui/units.ts";

/** A subscription's state in words. */
export interface StateWords {
  readonly kind: Kind;
  readonly name: string;
  /** What it means and what to do about it. */
  readonly means: Content;
}

/** Says how a team stands, and until when. */
export function stateWords({ periodEndAt, suspendedAt }: Team, entitlement: Entitlement, now: number): StateWords {
  if (!entitlement.licensed) return REFUSED(suspendedAt, periodEndAt, now)[entitlement.because];
  const { status, until } = entitlement;
  if (status === "active") return { kind: "good", name: "Active", means: "The subscription is paid." };
  if (status === "trialing")
    return { kind: "info", name: "Trial", means: "The team is trying Reckon, and gets licences as a paying one does." };
  const left = until === null ? 0 : Math.max(0, Math.ceil((until - now) / DAY_MS));
  return {
    kind: "warn",
    name: "Past due",
    means: html`The paid period is over and no payment is known. Licences are still minted for <strong>${plural(left, "day")} of grace</strong>, until ${time(until, now)}; then no more.`,
  };
}

const REFUSED = (suspendedAt: number | null, periodEndAt: number | null, now: number) =>
  ({
    suspended: {
      kind: "bad",
      name: "Suspended",
      means: html`The account was suspended ${time(suspendedAt, now)}. It gets no licences until that is lifted.`,
    },
    canceled: {
      kind: "bad",
      name: "Cancelled",
      means: "The subscription was cancelled. No more licences are minted; those given out work until they end.",
    },
    none: { kind: "neutral", name: "None", means: "The team has no subscription, so it gets no licences." },
    grace_over: {
      kind: "bad",
      name: "Ended",
      means: html`The paid period ended ${time(periodEndAt, now, "some time ago")} and the ${GRACE_DAYS} days of grace after it are over. No more licences are minted; those given out work until they end.`,
    },
  }) as const satisfies Record<string, StateWords>;
