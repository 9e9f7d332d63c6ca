/** The searches for requests: they let others in between, however long the text is. */
import { redactJsonInSlices } from "./json.ts";
import { mightHoldInSlices, type Redacted, redactTextInSlices, type Slices } from "./scan.ts";

/** Runs work through, and breathes wherever it may be left alone. @param breathe as `kit/breathe.ts` makes it */
async function run<T>(work: Slices<T>, breathe: () => Promise<void> | undefined): Promise<T> {
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
    await breathe();
  }
}

type Breathe = () => Promise<void> | undefined;

/** As `redactText`, in slices. */
export const redactLongText = (text: string, breathe: Breathe): Promise<Redacted> =>
  run(redactTextInSlices(text), breathe);

/** As `redactJson`, in slices. */
export const redactLongJson = (json: string, breathe: Breathe): Promise<Redacted> =>
  run(redactJsonInSlices(json), breathe);

/** As `mightHoldSecret`, in slices. */
export const mightLongHoldSecret = (text: string, breathe: Breathe): Promise<boolean> =>
  run(mightHoldInSlices(text), breathe);
