import type { Core } from "../../core.ts";
import { cooperative } from "../../kit/yield.ts";
import { newestDelivery } from "../../log/log.ts";
import type { Projection, RowChange } from "../../platform/projections/projections.ts";
import { readSessionSource, sessionsAfter } from "../../record/traces/traces.ts";
import { rows } from "./rows.ts";
import { wordsOf } from "./words.ts";

/** Sessions of several deliveries that share a transaction: each is a row at most. */
const ENOUGH_SESSIONS = 50;

/** Keeps session_finds like the sessions, some deliveries at a time. */
export const findsProjection: Projection = {
  name: "finds",
  newest: newestDelivery,
  next(core, checkpoint, alone) {
    const found = sessionsAfter(core, checkpoint, alone ? 1 : ENOUGH_SESSIONS);
    if (!found) return undefined;
    return { to: found.deliveryId, changes: changes(core, found.sessionIds) };
  },
  skip: (core, checkpoint) => sessionsAfter(core, checkpoint)?.deliveryId,
};

const MEMBERS = ["title", "repoKey", "branch", "words"] as const;

async function* changes(core: Core, sessionIds: readonly number[]): AsyncGenerator<RowChange> {
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
