import { Problem, type ProblemDetails, type ProblemRow } from "../../kit/problem.ts";

/** What a thread is sent: work, or the answer to what it asked while it does it. */
export type ToThread =
  | { readonly kind: "work"; readonly name: string; readonly input: unknown }
  | { readonly kind: "answer"; readonly answer: unknown };

/** What a thread sends: that it is there, a question, or what came of its work. */
export type FromThread =
  | { readonly kind: "ready" }
  | { readonly kind: "question"; readonly question: unknown }
  | { readonly kind: "made"; readonly made: unknown }
  | { readonly kind: "failed"; readonly failure: Failure };

/** An error on its way between threads. */
type Failure =
  | { readonly row: ProblemRow; readonly details: ProblemDetails }
  | { readonly message: string; readonly stack: string | undefined };

export function failureOf(error: unknown): Failure {
  if (error instanceof Problem) return { row: { ...error.row }, details: error.details };
  if (error instanceof Error) return { message: error.message, stack: error.stack };
  return { message: String(error), stack: undefined };
}

/** The error as it was thrown in the thread. */
export function errorOf(failure: Failure): Error {
  if ("row" in failure) return new Problem(failure.row, failure.details);
  const error = new Error(failure.message);
  if (failure.stack !== undefined) error.stack = failure.stack;
  return error;
}
