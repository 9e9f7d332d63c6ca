import * as v from "valibot";
import { isDate } from "../../../kit/date.ts";

const MUST_BE = "must be an instant such as 2027-01-01T00:00:00Z, on a day that there is";

/** An instant in a body. Its form alone would let days pass that no month has, and offsets that cannot be read as a number. */
export const InstantText = v.pipe(
  v.string(),
  v.isoTimestamp(),
  v.check((text) => isDate(text.slice(0, 10)) && !Number.isNaN(Date.parse(text)), MUST_BE),
);
