import { setTimeout } from "node:timers/promises";
import type { Core } from "../../core.ts";
import { SECOND_MS } from "../../kit/clock.ts";
import { isCrowded } from "../workers/workers.ts";

/** How long what was delivered waits to be worked through for others' sake. */
const MAX_WAIT_MS = 2 * SECOND_MS;
const LOOK_EVERY_MS = 5;

/**
 * Waits while many deliveries are being taken in, which go before what is derived of others: a client can wait for a figure, but may have to
 * drop what is not taken. Only for a bounded time: afterwards both share what there is.
 * @param lag for how long, in milliseconds, what was delivered waits already
 * @param isUrgent whether somebody waits for what is derived
 */
export async function giveWay(core: Core, lag: () => number, isUrgent: () => boolean): Promise<void> {
  while (isCrowded(core) && lag() < MAX_WAIT_MS && !isUrgent()) await setTimeout(LOOK_EVERY_MS);
}
