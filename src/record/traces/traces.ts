/**
 * Traces: agent sessions with their spans and labels, merged as they grow.
 * Not here: the raw stream of entries (telemetry), what a session's free-form parts say (formats), what sessions cost (spend) or
 * caused (causes).
 */
export { listSessions, textFinder } from "./browse.ts";
export { traceErasure } from "./erase.ts";
export { traceExport } from "./export.ts";
export {
  countFailedSpans,
  countSessionsAfter,
  readSessionSource,
  type SessionSource,
  sessionsAfter,
  sessionsBetween,
  spansWith,
  spanTimes,
} from "./follow.ts";
export { itemsOfSession } from "./items.ts";
export { type MeteredSession, placeOfSession, readMetered } from "./metered.ts";
export { sessionPieces } from "./pieces.ts";
export {
  findSessionId,
  getSession,
  pageOfSpans,
  type Session,
  type Span,
  wholeSpan,
} from "./session.ts";
export { traceDeliveries } from "./verify.ts";
