import { type Result, resultOf } from "../../../../formats/outcomes.ts";
import type { Html } from "../../../../kit/html.ts";
import { badge, type Kind, mark } from "../../ui/parts.ts";
import { short } from "../shared/text.ts";

const LOOKS: Readonly<Record<Result, Kind>> = { succeeded: "good", failed: "bad", stopped: "warn", unknown: "neutral" };
const MAX_CHARS = 40;

const outcomeText = (outcome: string) => (outcome === "" ? "not said" : short(outcome, MAX_CHARS));

/** A session's outcome at a glance; words that are not known stand as they are. */
export const outcomeBadge = (outcome: string): Html => badge(LOOKS[resultOf(outcome)], outcomeText(outcome));

/** The same as a mark, for rows of one line. */
export const outcomeMark = (outcome: string): Html => mark(LOOKS[resultOf(outcome)], outcomeText(outcome));
