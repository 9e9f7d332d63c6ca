import { within } from "../../../../kit/within.ts";

/** The index of a brain is built once somebody asks, and of a very large one that takes half a minute: nobody waits for it that long. */

const WAITS_MS = 2_000;

/** What the brain answers; undefined while it is still being read. */
export const soonOfBrain = <T>(answer: Promise<T>): Promise<T | undefined> => within(answer, WAITS_MS);

export const BRAIN_UNREAD = "The brain is still being read, as after a start: look again in a while.";
