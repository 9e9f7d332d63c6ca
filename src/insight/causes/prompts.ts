import type { Core } from "../../core.ts";
import { type Prompt, understandSession } from "../../formats/session.ts";
import { readSessionSource } from "../../record/traces/traces.ts";

const EXCERPT_CHARS = 280;
/** Of a prompt that is the answer. */
export const PROMPT_CHARS = 2_000;

/**
 * The prompt that was being worked on at an instant: the last one at or before it. Of prompts that tell no time only the last
 * can be it, and it is when there is no time to compare.
 * @param at milliseconds since the epoch; null asks for the session's last prompt
 */
export function promptAt<T extends Pick<Prompt, "at">>(prompts: readonly T[], at: number | null): T | undefined {
  const timed = prompts.filter((prompt) => prompt.at !== null);
  if (at === null || timed.length === 0) return prompts.at(-1);
  let last: T | undefined;
  for (const prompt of timed)
    if ((prompt.at as number) <= at && (prompt.at as number) >= (last?.at ?? Number.NEGATIVE_INFINITY)) last = prompt;
  return last;
}

/** A text on one line, cut after 280 UTF-16 units; null when nothing is left. */
export function excerptOf(text: string | null | undefined, most = EXCERPT_CHARS): string | null {
  const line = (text ?? "")
    .slice(0, 4 * most)
    .replace(/[\p{Cc}\s]+/gu, " ")
    .trim();
  if (line === "") return null;
  return line.length <= most
    ? line.toWellFormed()
    : `${line
        .slice(0, most - 1)
        .toWellFormed()
        .trimEnd()}…`;
}

/** The prompts of a session that the caller knows to be its team's. */
export function promptsOf(core: Core, sessionId: number): readonly Prompt[] {
  const source = readSessionSource(core, sessionId);
  return source ? understandSession(source.document).prompts : [];
}
