/** The searches for requests: they let others in between, however long the text is. */
import { redactJsonInSlices } from "./json.ts";
import { mightHoldInSlices, type Redacted, redactTextInSlices, type Slices } from "./scan.ts";

/** Runs work through, and breathes wherever it may be left alone. @param yieldNow as `kit/yield.ts` makes it */
async function run<T>(work: Slices<T>, yieldNow: () => Promise<void> | undefined): Promise<T> {
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
    await yieldNow();
  }
}

type YieldNow = () => Promise<void> | undefined;

/** As `redactText`, in slices. */
export const redactLongText = (text: string, yieldNow: YieldNow): Promise<Redacted> =>
  run(redactTextInSlices(text), yieldNow);

/** As `redactJson`, in slices. */
export const redactLongJson = (json: string, yieldNow: YieldNow): Promise<Redacted> =>
  run(redactJsonInSlices(json), yieldNow);

/** As `mightHoldSecret`, in slices. */
export const mightLongHoldSecret = (text: string, yieldNow: YieldNow): Promise<boolean> =>
  run(mightHoldInSlices(text), yieldNow);
