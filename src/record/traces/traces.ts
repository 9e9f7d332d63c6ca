/**
 * Traces: agent sessions with their spans and labels, merged as they grow.
 * Not here: the raw stream of entries (telemetry), what sessions cost (spend) or caused (defects).
 */
export {
  listSessions,
  type SessionFacets,
  type SessionFilter,
  type SessionPage,
  type SessionRow,
  sessionFacets,
} from "./browse.ts";
export { countedCalls } from "./calls.ts";
export {
  countSessionsAfter,
  readSessionSource,
  type SessionPlace,
  type SessionSource,
  type SpanSource,
  sessionsAfter,
  sessionsBetween,
  spansWith,
  spanTimes,
} from "./follow.ts";
export { type MeteredCall, type MeteredSession, placeOfSession, readMetered } from "./metered.ts";
export { readId, readInstant } from "./rules.ts";
export { findSessionId, getSession, type Label, type Session, type Span } from "./session.ts";
export { type Tokens, tokensOf } from "./tokens.ts";
export { type Commit, type Edit, type Prompt, promptTitle, readCost, understandSession } from "./understood.ts";
export {
  readAttributeModel,
  readAttributes,
  readAttributeUsage,
  readRequestId,
  readUsage,
  type Usage,
} from "./usage.ts";
export { checkTraces } from "./verify.ts";
