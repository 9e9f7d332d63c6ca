import { problem } from "../../kit/problem.ts";
import { tooLargeMalformed } from "../../platform/http/faults.ts";

export const requestTooLarge = problem({
  ...tooLargeMalformed,
  message: "The request exceeds 8 KB.",
});
