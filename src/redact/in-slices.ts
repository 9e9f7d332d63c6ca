/** The searches for requests: they let others in between, however long the text is. */
import { inSlices } from "../kit/slices.ts";
import { redactJsonInSlices } from "./json.ts";
import { mightHoldInSlices, partsInSlices } from "./might-hold.ts";
import { type Redacted, redactTextInSlices } from "./scan.ts";

/** Lets others in where that is due; as `kit/yield.ts` makes it. */
type YieldNow = () => Promise<void> | undefined;

/** As `redactText`, in slices. */
export const redactLongText = (text: string, yieldNow: YieldNow): Promise<Redacted> =>
  inSlices(redactTextInSlices(text), yieldNow);

/** As `redactJson`, in slices. */
export const redactLongJson = (json: string, yieldNow: YieldNow): Promise<Redacted> =>
  inSlices(redactJsonInSlices(json), yieldNow);

/** As `mightHoldSecret`, in slices. */
export const mightLongHoldSecret = (text: string, yieldNow: YieldNow): Promise<boolean> =>
  inSlices(mightHoldInSlices(text), yieldNow);

/** As `partsInSlices`. */
export const partsThatMightHold = (
  text: string,
  parts: Parameters<typeof partsInSlices>[1],
  yieldNow: YieldNow,
): Promise<ReadonlySet<number>> => inSlices(partsInSlices(text, parts), yieldNow);
