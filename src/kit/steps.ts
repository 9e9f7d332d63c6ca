/**
 * Begins a step of long work; the step before it ends with that.
 * @param what it is, for people: `verifying the ledger`
 * @returns a function that takes the progress, where that is known: the share done, 0 to 1, or a count in words
 */
export type Steps = (what: string) => (done: number | string) => void;

/** For work that nobody watches. */
export const unwatched: Steps = () => () => {};
