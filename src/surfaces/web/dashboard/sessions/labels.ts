import { outcomeOf } from "../../../../formats/outcomes.ts";
import type { Html } from "../../../../kit/html.ts";
import { badge } from "../../ui/parts.ts";
import { short } from "../shared/text.ts";

const MAX_CHARS = 40;

/** A session's outcome at a glance; words that are not known stand as they are. */
export function outcomeBadge(outcome: string): Html {
  return badge(outcomeOf(outcome) ?? "neutral", outcome === "" ? "not said" : short(outcome, MAX_CHARS));
}
