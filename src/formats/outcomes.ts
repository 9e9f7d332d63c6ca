/** What agents call the outcome of a session; they may use any word. */

/** `stopped`: it came to an end that is neither. `unknown`: nothing was said, or nothing that is understood. */
export const OUTCOME_KINDS = ["succeeded", "failed", "stopped", "unknown"] as const;
export type OutcomeKind = (typeof OUTCOME_KINDS)[number];

const WORDS: Readonly<Record<Exclude<OutcomeKind, "unknown">, readonly string[]>> = {
  succeeded: ["success", "succeeded", "ok", "completed", "committed", "merged"],
  failed: ["failure", "failed", "error"],
  stopped: ["partial", "abandoned", "cancelled", "canceled", "interrupted", "timeout"],
};

const KIND_OF = new Map(
  Object.entries(WORDS).flatMap(([kind, words]) => words.map((word) => [word, kind as OutcomeKind] as const)),
);

/** What an agent's word means, in any case. */
export const outcomeKind = (outcome: string): OutcomeKind => KIND_OF.get(outcome.toLowerCase()) ?? "unknown";
