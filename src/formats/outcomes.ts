/** What agents call the outcome of a session, and how it went; they may use any word. */
const OUTCOMES: Readonly<Record<string, "good" | "warn" | "bad">> = {
  success: "good",
  succeeded: "good",
  ok: "good",
  completed: "good",
  committed: "good",
  merged: "good",
  failure: "bad",
  failed: "bad",
  error: "bad",
  partial: "warn",
  abandoned: "warn",
  cancelled: "warn",
  canceled: "warn",
  interrupted: "warn",
  timeout: "warn",
};

/** How a session went, by what its agent calls that; undefined for a word that is not known. */
export function outcomeOf(outcome: string): "good" | "warn" | "bad" | undefined {
  const known = outcome.toLowerCase();
  return Object.hasOwn(OUTCOMES, known) ? OUTCOMES[known] : undefined;
}
