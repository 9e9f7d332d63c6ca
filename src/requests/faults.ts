import { fault } from "../http/faults.ts";

/** Takes the place of the general `tooLarge`, which is 413: the contract answers 400 here. */
export const requestTooLarge = fault({
  name: "tooLarge",
  status: 400,
  code: "bad_request",
  shape: "okFalse",
  says: "The request exceeds 8 KB.",
});
