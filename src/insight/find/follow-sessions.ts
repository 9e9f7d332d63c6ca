import type { Core } from "../../core.ts";
import { cooperative } from "../../kit/yield.ts";
import type { RowChange } from "../../platform/projections/projections.ts";
import { readSessionSource, sessionSequence } from "../../record/traces/traces.ts";
import { rows } from "./rows.ts";
import { wordsOf } from "./words.ts";

/** Keeps session_finds like the sessions. */
export const findsProjection = sessionSequence.projection("finds", changesOf);

const MEMBERS = ["title", "repoKey", "branch", "words"] as const;

async function* changesOf(core: Core, sessionIds: readonly number[]): AsyncGenerator<RowChange> {
  const yieldNow = cooperative(core.clock);
  const sql = rows(core.store);
  for (const sessionId of sessionIds) {
    await yieldNow();
    const source = readSessionSource(core, sessionId);
    if (!source) continue;
    const { teamId } = source;
    const found = wordsOf(source);
    const stored = sql.stored.get(teamId, sessionId);
    // A session grows at its end: what it is called mostly stays.
    if (stored && MEMBERS.every((name) => stored[name] === found[name])) continue;
    yield () => sql.put.run({ teamId, sessionId, ...found });
  }
}
