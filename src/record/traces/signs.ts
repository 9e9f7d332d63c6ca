/**
 * What a span's document may tell of, as bits of a whole number. They are judged once, where the span is made ready: who derives
 * something from a session, anew with each delivery that it grows by, reads only the documents that may tell of it.
 */
export const SIGNS = { failure: 1, edits: 2, usage: 4 } as const;

/** Any document of a step that failed has one of these. A status can be OpenTelemetry's number. */
const FAILURE = /rror|ERROR|xit|ail|AIL|success|"code"|otel\.status_code|"status"\s*:\s*2/;

/** The signs of a span. Even with a sign, a document may tell of nothing. */
export function signsOf(document: string): number {
  let signs = 0;
  if (FAILURE.test(document)) signs |= SIGNS.failure;
  if (document.includes('"edits"')) signs |= SIGNS.edits;
  // A tool's span separates the calls around it, whether it tells of usage or not.
  if (document.includes("usage") || document.includes("gen_ai.operation.name")) signs |= SIGNS.usage;
  return signs;
}
