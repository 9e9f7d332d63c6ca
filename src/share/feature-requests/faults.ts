import { fault, tooLargeMalformed } from "../../platform/http/faults.ts";

export const requestTooLarge = fault({
  ...tooLargeMalformed,
  shape: "okFalse",
  says: "The request exceeds 8 KB.",
});
