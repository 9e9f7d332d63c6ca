/** What agents call the outcome of a session; they may use any word. */
const RESULTS: Readonly<Record<string, Result>> = {
  success: "succeeded",
  succeeded: "succeeded",
  ok: "succeeded",
  completed: "succeeded",
  committed: "succeeded",
  merged: "succeeded",
  failure: "failed",
  failed: "failed",
  error: "failed",
  partial: "stopped",
  abandoned: "stopped",
  cancelled: "stopped",
  canceled: "stopped",
  interrupted: "stopped",
  timeout: "stopped",
};

/** What an outcome comes to: done, gone wrong, or ended before it was done; `unknown` for words that say none of these. */
export type Result = "succeeded" | "failed" | "stopped" | "unknown";

export function resultOf(outcome: string): Result {
  const word = outcome.toLowerCase();
  return Object.hasOwn(RESULTS, word) ? (RESULTS[word] as Result) : "unknown";
}
