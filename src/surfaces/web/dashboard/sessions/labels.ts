import type { Html } from "../../../../kit/html.ts";
import { badge, type Kind } from "../../ui/badge.ts";

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

/** The beginning of a text. */
export function short(text: string, chars: number): string {
  return text.length <= chars ? text : `${text.slice(0, chars - 1).toWellFormed()}…`;
}

/** A commit as people write it; agents may send any text for one. */
export const shaText = (sha: string) => (/^[0-9a-f]{12,64}$/i.test(sha) ? sha.slice(0, 12) : short(sha, 40));

/**
 * Lays JSON text out over lines, every value spelled as it came: numbers keep all their digits.
 * @param text well-formed JSON; in anything else, the walk over a string without an end could take long
 */
export function indentJson(text: string): string {
  let depth = 0;
  const line = () => `\n${"  ".repeat(Math.min(depth, 40))}`;
  return text.replace(/"(?:[^"\\]|\\.)*"|[{[]\s*[}\]]|[{}[\],:]|\s+/g, (token) => {
    if (token.startsWith('"')) return token;
    if (/^\s/.test(token)) return "";
    if (token.length > 1) return token.replace(/\s/g, "");
    if (token === ":") return ": ";
    if (token === ",") return token + line();
    if (token === "{" || token === "[") {
      depth++;
      return token + line();
    }
    depth--;
    return line() + token;
  });
}
