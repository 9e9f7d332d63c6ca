import { type OutcomeKind, outcomeKind } from "../../../../formats/outcomes.ts";
import { type Html, html } from "../../../../kit/html.ts";
import type { SessionRow } from "../../../../record/traces/traces.ts";
import { badge, type Kind, mark } from "../../ui/parts.ts";
import { short } from "../shared/text.ts";

const LOOKS: Readonly<Record<OutcomeKind, Kind>> = {
  succeeded: "good",
  failed: "bad",
  stopped: "warn",
  unknown: "neutral",
};

const MAX_CHARS = 40;

const outcomeText = (outcome: string) => (outcome === "" ? "not said" : short(outcome, MAX_CHARS));

/** A session's outcome at a glance, or that it runs where none is known yet; words that are not known stand as they are. */
export const outcomeBadge = (outcome: string, running: boolean): Html =>
  running && outcome === ""
    ? html`<span class="badge info running">running</span>`
    : badge(LOOKS[outcomeKind(outcome)], outcomeText(outcome));

/** The same as a mark, for rows of one line. */
export const outcomeMark = (outcome: string, running: boolean): Html =>
  running && outcome === ""
    ? html`<span class="glyph info running" title="running"><span class="vh">running</span></span>`
    : mark(LOOKS[outcomeKind(outcome)], outcomeText(outcome));

/** The share that succeeded of the sessions whose outcome is known, 0 to 1; null where none is. */
export function shareOf({ succeeded, failed, stopped }: Readonly<Record<"succeeded" | "failed" | "stopped", number>>) {
  const known = succeeded + failed + stopped;
  return known === 0 ? null : succeeded / known;
}

/** A share as people read it: `65 %`. */
export const percent = (share: number): string => `${Math.round(share * 100)} %`;

const MAX_TITLE = 110;

/** What a session is called: what it was asked first, or else the id that its agent gave it. */
export const titleOfSession = ({ firstPrompt, externalId }: Pick<SessionRow, "firstPrompt" | "externalId">): string =>
  short(firstPrompt ?? externalId, MAX_TITLE);
