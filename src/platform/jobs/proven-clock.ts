import { type Core, slot } from "../../core.ts";
import { HOUR_MS, SECOND_MS } from "../../kit/clock.ts";

/** The clock may differ from the monotonic one by this much between two looks. */
const MAX_DRIFT_MS = 2 * SECOND_MS;
/** One that was set by more than this is not believed until it went on for as long. */
const PROVEN_MS = HOUR_MS;

/** How far the clock is from the monotonic one, since when, and what began then. */
const steady = slot(({ clock }) => ({
  offset: clock.now() - clock.monotonic(),
  since: clock.monotonic(),
  state: "new" as "new" | "set",
}));

/**
 * Looks at the clock, and reports one that was set.
 * @returns `proven` once it went on for an hour: what is gone by it is gone for good; until then `set`, or `new` where the process began
 */
export function lookAtClock(core: Core): "new" | "set" | "proven" {
  const { clock } = core;
  const known = steady(core);
  const offset = clock.now() - clock.monotonic();
  const byMs = Math.round(offset - known.offset);
  if (Math.abs(byMs) > MAX_DRIFT_MS) core.log.warn("clock_jumped", { byMs });
  if (Math.abs(byMs) > PROVEN_MS) Object.assign(known, { since: clock.monotonic(), state: "set" });
  known.offset = offset;
  return clock.monotonic() - known.since >= PROVEN_MS ? "proven" : known.state;
}
