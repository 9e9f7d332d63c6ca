/** The searches for requests: they let others in between, however long the text is. */
import { inSlices, type Slices } from "../kit/slices.ts";
import { redactJsonInSlices } from "./json.ts";
import { mightHoldInSlices, partsInSlices } from "./might-hold.ts";
import { makeReady, type Redacted, redactTextInSlices } from "./scan.ts";

/** Lets others in where that is due; as `kit/yield.ts` makes it. */
type YieldNow = () => Promise<void> | undefined;

/** Settles when what every search needs is made; undefined before anybody asked for it. */
let ready: Promise<void> | undefined;
let isReady = false;

/** As `makeReady`, in slices, once. */
export function makeSearchReady(yieldNow: YieldNow): Promise<void> {
  ready ??= inSlices(makeReady(), yieldNow).then(() => {
    isReady = true;
  });
  return ready;
}

async function search<T>(work: Slices<T>, yieldNow: YieldNow): Promise<T> {
  if (!isReady) await makeSearchReady(yieldNow);
  return inSlices(work, yieldNow);
}

/** As `redactText`, in slices. */
export const redactLongText = (text: string, yieldNow: YieldNow): Promise<Redacted> =>
  search(redactTextInSlices(text), yieldNow);

/** As `redactJson`, in slices. */
export const redactLongJson = (json: string, yieldNow: YieldNow): Promise<Redacted> =>
  search(redactJsonInSlices(json), yieldNow);

/** As `mightHoldSecret`, in slices. */
export const mightLongHoldSecret = (text: string, yieldNow: YieldNow): Promise<boolean> =>
  search(mightHoldInSlices(text), yieldNow);

/** As `partsInSlices`. */
export const partsThatMightHold = (
  text: string,
  parts: Parameters<typeof partsInSlices>[1],
  yieldNow: YieldNow,
): Promise<ReadonlySet<number>> => search(partsInSlices(text, parts), yieldNow);
