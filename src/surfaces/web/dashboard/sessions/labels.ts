import { type OutcomeKind, outcomeKind } from "../../../../formats/outcomes.ts";
import { type Html, html } from "../../../../kit/html.ts";
import type { SessionRow } from "../../../../record/traces/traces.ts";
import { badge, type Kind } from "../../ui/parts.ts";
import { short } from "../shared/text.ts";

const LOOKS: Readonly<Record<OutcomeKind, Kind>> = {
  succeeded: "good",
  failed: "bad",
  stopped: "warn",
  unknown: "neutral",
};

const MAX_CHARS = 40;

/** A session's outcome at a glance; words that are not known stand as they are. */
export function outcomeBadge(outcome: string): Html {
  return badge(LOOKS[outcomeKind(outcome)], outcome === "" ? "not said" : short(outcome, MAX_CHARS));
}

const MAX_TITLE = 110;

/** What a session is called: what it was asked first, or else the id that its agent gave it. */
export const titleOfSession = ({ firstPrompt, externalId }: Pick<SessionRow, "firstPrompt" | "externalId">): string =>
  short(firstPrompt ?? externalId, MAX_TITLE);

/** Of a session that has not ended. */
export const runningBadge = (): Html => html`<span class="badge info running">running</span>`;
