import { within } from "../../../../kit/within.ts";

/** The index of a brain is built when somebody first asks. For a very large brain that takes half a minute, and no page waits so long. */

const WAITS_MS = 2_000;

/** What the brain answers; undefined while it is still being read. */
export const soonOfBrain = <T>(answer: Promise<T>): Promise<T | undefined> => within(answer, WAITS_MS);

export const BRAIN_UNREAD = "The brain is still being read, as after a start: look again in a while.";
