import { type OutcomeKind, outcomeKind } from "../../../../formats/outcomes.ts";
import type { Html } from "../../../../kit/html.ts";
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

/** How a session went, or that it runs where that is not known yet; words that are not known stand as they are. */
function look(outcome: string, running: boolean): [Kind, string] {
  if (outcome === "") return running ? ["running", "running"] : ["neutral", "not said"];
  return [LOOKS[outcomeKind(outcome)], short(outcome, MAX_CHARS)];
}

/** A session's outcome at a glance. */
export const outcomeBadge = (outcome: string, running: boolean): Html => badge(...look(outcome, running));

/** The same as a mark, for rows of one line. */
export const outcomeMark = (outcome: string, running: boolean): Html => mark(...look(outcome, running));

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
