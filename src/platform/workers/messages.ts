import { Problem, type ProblemDetails, type ProblemRow } from "../../kit/problem.ts";

/** Messages to a thread: jobs, or the answer to its question about one of them. */
export type ToThread =
  | { readonly kind: "jobs"; readonly jobs: readonly { readonly name: string; readonly input: unknown }[] }
  | { readonly kind: "answer"; readonly answer: unknown };

/** A thread's messages: that it is ready, a question about one of its jobs, or the outcomes of all of them. */
export type FromThread =
  | { readonly kind: "ready" }
  | { readonly kind: "question"; readonly index: number; readonly question: unknown }
  | { readonly kind: "done"; readonly outcomes: readonly Outcome[] };

/** What came of a job. */
export type Outcome = { readonly made: unknown } | { readonly failure: Failure };

/** An error on its way between threads. */
export type Failure =
  | { readonly row: ProblemRow; readonly details: ProblemDetails }
  | { readonly message: string; readonly stack: string | undefined };

/** An error in a form that a thread can send: a problem stays one; of any other error, message and stack are kept. */
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
