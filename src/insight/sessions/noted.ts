import type { Core } from "../../core.ts";
import { dayNumber } from "../../kit/clock.ts";
import { keepSession } from "./follow.ts";
import { keptSums, noteChanged } from "./kept-sums.ts";
import { NO_START, rows, type SessionName } from "./rows.ts";

/** Facts about sessions that other rooms find out. They are stored in those rooms' own transactions: all functions here are row changes. */

/** Tokens and what they cost. */
export interface Spent {
  readonly tokens: number;
  /** Of them, those without a price. */
  readonly unpriced: number;
  /** Trillionths of a dollar, of those that have one. */
  readonly pico: bigint;
}

const PICO_IN_NANO = 1_000n;

/** What a session used and cost so far, whether it is known as a session or only by what it used. */
export function noteSpent(core: Core, session: SessionName, spent: Spent): void {
  const { deviceId, externalId } = session;
  const sql = rows(core.store);
  noteChanged(core, session);
  const whole = (value: number) => Math.max(0, Math.min(value, Number.MAX_SAFE_INTEGER));
  const [tokens, unpriced] = [whole(spent.tokens), whole(spent.unpriced)];
  // Figures of an erased session do not come back.
  if (tokens === 0) return void sql.clearSpent.run(deviceId, externalId);
  const isPriced = tokens > unpriced;
  const pico = spent.pico < 0n ? 0n : spent.pico;
  const costNano = isPriced ? whole(Number(pico / PICO_IN_NANO)) : -1;
  const costRest = isPriced ? Number(pico % PICO_IN_NANO) : 0;
  sql.putSpent.run({ ...session, tokens, unpriced, costNano, costRest, noStart: NO_START });
}

/** What a session used and cost beyond that, or no longer does. */
export function noteSpentMore(core: Core, session: SessionName, more: Spent): void {
  const before = rows(core.store).spent.get(session.deviceId, session.externalId);
  const { tokens = 0, unpriced = 0, costNano = 0, costRest = 0 } = before ?? {};
  noteSpent(core, session, {
    tokens: tokens + more.tokens,
    unpriced: unpriced + more.unpriced,
    pico: BigInt(Math.max(0, costNano)) * PICO_IN_NANO + BigInt(costRest) + more.pico,
  });
}

/** Nothing of what sessions used is known any more: it is counted anew. */
export function forgetSpent(core: Core): void {
  rows(core.store).clearAllSpent.run();
  keptSums(core).changeAll();
}

/** How many entries of errors files are put down to a session. */
export function noteCaused(core: Core, sessionId: number, caused: number): void {
  if (caused > 0) keepSession(core, sessionId);
  const changed = rows(core.store).setCaused.get({ sessionId, caused });
  if (changed) keptSums(core).change(changed.teamId, dayNumber(changed.startedAt));
}

/** What is noted of sessions as causes. */
export const notedCauses = {
  of: (core: Core, sessionId: number): number => rows(core.store).causedBy.get(sessionId) ?? 0,
  /** Of a repository's; those of nothing are left out. */
  ofRepo: (core: Core, teamId: string, repoKey: string): ReadonlyMap<number, number> =>
    new Map(
      rows(core.store)
        .causedIn.all(teamId, repoKey)
        .map(({ sessionId, caused }) => [sessionId, caused]),
    ),
};
