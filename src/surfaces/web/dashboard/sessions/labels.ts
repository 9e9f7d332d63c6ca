import { type Html, html } from "../../../../kit/html.ts";
import { badge, type Kind } from "../../ui/parts.ts";
import { short } from "../shared/text.ts";

/** What agents call the outcome of a session; they may use any word. */
const OUTCOMES: Readonly<Record<string, Kind>> = {
  success: "good",
  succeeded: "good",
  ok: "good",
  completed: "good",
  committed: "good",
  merged: "good",
  failure: "bad",
  failed: "bad",
  error: "bad",
  partial: "warn",
  abandoned: "warn",
  cancelled: "warn",
  canceled: "warn",
  interrupted: "warn",
  timeout: "warn",
};

const MAX_CHARS = 40;

/** A session's outcome at a glance; words that are not known stand as they are. */
export function outcomeBadge(outcome: string): Html {
  const known = outcome.toLowerCase();
  const kind = Object.hasOwn(OUTCOMES, known) ? (OUTCOMES[known] as Kind) : "neutral";
  return badge(kind, outcome === "" ? "not said" : short(outcome, MAX_CHARS));
}

/** Of a session that has not ended. */
export const runningBadge = (): Html => html`<span class="badge info running">running</span>`;
