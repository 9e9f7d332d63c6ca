import type { Core } from "../core.ts";
import { HOUR_MS, isoInstant } from "../kit/clock.ts";
import { firstWhere } from "../kit/first-where.ts";
import type { Towards } from "../kit/page.ts";
import { cooperative } from "../kit/yield.ts";
import { type DeliveryFacts, rows } from "./rows.ts";

/** How far the wall clock may have been set back without being taken for wrong. */
const CLOCK_SLACK_MS = 2 * HOUR_MS;
/** About how often the clock may have been wrong for a walk to still begin where it should, and not at its end. */
const MAX_TRIES = 16;

/** A range of times of receipt: `from` is included, `to` is not. */
interface Span {
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

const nextOf = (core: Core, teamId: string, towards: Towards, id: number): DeliveryFacts | undefined =>
  (towards === "older" ? rows(core.store).ofTeamDown : rows(core.store).ofTeamUp).get(teamId, id, 1);

/**
 * Samples of a team's deliveries in one direction from one on, itself included, at distances that double: few, however many deliveries
 * there are.
 */
function* glimpses(core: Core, teamId: string, towards: Towards, id: number): Generator<DeliveryFacts> {
  for (let far = 0; ; far = 2 * far + 1) {
    const met = nextOf(core, teamId, towards, towards === "older" ? id - far : id + far);
    if (!met) return;
    yield met;
  }
}

/**
 * The number at which a walk over a team's deliveries begins when only times bound it, by binary search. It looks at the team's own
 * deliveries only, because those that moved here with a team are older than others before them. Where the clock was wrong for a while, the
 * walk may begin early.
 */
function start(core: Core, teamId: string, { from, to }: Span, towards: Towards): number {
  const isDown = towards === "older";
  const bound = isDown ? to : from;
  if (bound === undefined) return isDown ? Number.MAX_SAFE_INTEGER : 1;
  const goal = bound + (isDown ? CLOCK_SLACK_MS : -CLOCK_SLACK_MS);
  const newest = rows(core.store).last.get() ?? 0;
  // Where it begins lies above `low` and not above `high`.
  let [low, high] = [0, newest + 1];
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const found = firstWhere(newest, (id) => {
      if (id <= low || id >= high) return id >= high;
      const met = nextOf(core, teamId, "newer", id);
      return met === undefined || met.receivedAt >= goal;
    });
    const isAstray = (met: DeliveryFacts) => (isDown ? met.receivedAt < goal : met.receivedAt >= goal);
    const astray = glimpses(core, teamId, isDown ? "newer" : "older", isDown ? found : found - 1).find(isAstray);
    if (!astray) return found;
    if (isDown) low = astray.id;
    else high = astray.id;
  }
  return isDown ? newest : 1;
}

/** Whether a walk at a delivery is beyond its bounds, and no sample further on shows that the clock was wrong here. */
function isPast(core: Core, { from, to }: Span, step: DeliveryFacts, towards: Towards): boolean {
  const { id, teamId, receivedAt } = step;
  if (towards === "older") {
    if (from === undefined || receivedAt >= from - CLOCK_SLACK_MS) return false;
    return !glimpses(core, teamId, towards, id).some((met) => met.receivedAt > receivedAt + CLOCK_SLACK_MS);
  }
  if (to === undefined || receivedAt < to + CLOCK_SLACK_MS) return false;
  return !glimpses(core, teamId, towards, id).some((met) => met.receivedAt < receivedAt - CLOCK_SLACK_MS);
}

/** Deliveries looked at in one go. */
const SLICE = 500;

/**
 * The number up to which a team's deliveries came before an instant, in the order of the log: a delivery that a slow clock dated back
 * counts with those around it. One dated in the future tells nothing, since the clock was wrong.
 */
async function lastUpTo(core: Core, teamId: string, until: number): Promise<number> {
  const yieldNow = cooperative(core.clock);
  for (let id = start(core, teamId, { from: until }, "newer"); ; await yieldNow()) {
    const some = rows(core.store).ofTeamUp.all(teamId, id, SLICE);
    const young = some.find(({ receivedAt }) => receivedAt > until && receivedAt <= core.clock.now());
    if (young) return young.id - 1;
    if (some.length < SLICE) return Number.MAX_SAFE_INTEGER;
    id = (some.at(-1)?.id ?? id) + 1;
  }
}

/** What is wrong where one of the last deliveries came later than it is now by the clock; undefined where none did. */
function fromFuture({ store, clock }: Core): string | undefined {
  const [id, receivedAt = 0] = rows(store).latest.get() ?? [];
  if (receivedAt <= clock.now() + CLOCK_SLACK_MS) return undefined;
  return `delivery ${id} came at ${isoInstant(receivedAt)}: the clock is behind, or was ahead then`;
}

/** Walks over a team's deliveries of a span of time. They are numbered in the order of commit, which a wrong clock does not follow. */
export const timedWalk = { start, isPast, lastUpTo, fromFuture };
