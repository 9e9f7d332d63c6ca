import type { Core } from "../../core.ts";
import { refreshWithin } from "../../platform/projections/projections.ts";
import { sessionTwins } from "../../record/traces/traces.ts";
import { findsProjection } from "./follow-sessions.ts";
import { type FoundSession, rows } from "./rows.ts";
import { SHA_CHARS } from "./words.ts";

/** The sessions looked through: of a team with more, the newest. Each costs well under a microsecond. */
const MAX_EXAMINED = 50_000;
const MAX_WORDS = 4;
const MAX_WORD_CHARS = 100;

/** Reads what was delivered last; waits a few seconds at most. */
export const freshenFinds = (core: Core): Promise<void> => refreshWithin(core, findsProjection);

/**
 * A team's sessions that hold all of some words, in any case, anywhere in their title, id or branch or at the beginning of a commit's
 * digits; those that came last first. Of the words the first four count.
 */
export function findSessions(core: Core, teamId: string, text: string, most: number): FoundSession[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean).slice(0, MAX_WORDS).map(asKept);
  if (words.length === 0) return [];
  const [a = "", b = "", c = "", d = ""] = words;
  const found = rows(core.store).holding.all({ teamId, a, b, c, d, examined: MAX_EXAMINED, most: 2 * most });
  return sessionTwins.listed(core, found, ({ id }) => id).slice(0, most);
}

/** Of a commit only the first digits are kept. */
const asKept = (word: string) =>
  /^[0-9a-f]{12,64}$/.test(word) ? word.slice(0, SHA_CHARS) : word.slice(0, MAX_WORD_CHARS);

/** Row change: forgets what a session is found by. */
export const eraseFinds = (core: Core, session: { readonly teamId: string; readonly id: number }): number =>
  rows(core.store).drop.run(session.teamId, session.id).changes;
