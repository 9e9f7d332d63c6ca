import { type OutcomeKind, outcomeKind } from "../../../../formats/outcomes.ts";
import type { Html } from "../../../../kit/html.ts";
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

/** A session's outcome at a glance; words that are not known stand as they are. */
export function outcomeBadge(outcome: string): Html {
  return badge(LOOKS[outcomeKind(outcome)], outcomeText(outcome));
}

/** The same as a mark, for rows of one line. */
export const outcomeMark = (outcome: string): Html => mark(LOOKS[outcomeKind(outcome)], outcomeText(outcome));
