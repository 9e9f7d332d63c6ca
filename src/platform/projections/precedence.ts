import { setTimeout } from "node:timers/promises";
import type { Core } from "../../core.ts";
import { SECOND_MS } from "../../kit/clock.ts";
import { isCrowded } from "../workers/workers.ts";

/** How long projections let new deliveries go first. */
const MAX_WAIT_MS = 2 * SECOND_MS;
const LOOK_EVERY_MS = 5;

/**
 * Waits while many deliveries are being taken in. These go before projections: a client can wait for a figure, but may have to drop what is
 * not accepted. The wait is bounded: afterwards both share what there is.
 * @param lag for how long, in milliseconds, a delivery already waits to be projected
 * @param isUrgent whether somebody waits for the projection
 */
export async function giveWay(core: Core, lag: () => number, isUrgent: () => boolean): Promise<void> {
  while (isCrowded(core) && lag() < MAX_WAIT_MS && !isUrgent()) await setTimeout(LOOK_EVERY_MS);
}
