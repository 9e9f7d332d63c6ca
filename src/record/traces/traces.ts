/**
 * Traces: agent sessions with their spans and labels, merged as they grow; notes of commits, which name sessions.
 * Not here: the raw stream of entries (telemetry), what a session's free-form parts say (formats), what sessions cost (spend) or
 * caused (causes).
 */
export {
  listSessions,
  type SessionRow,
  sessionBeside,
  sessionFacets,
} from "./browse.ts";
export { sessionDays } from "./daily.ts";
export { traceErasure } from "./erase.ts";
export { traceExport } from "./export.ts";
export {
  countSessionsAfter,
  readSessionSource,
  sessionsAfter,
  sessionsBetween,
  sourceSpans,
} from "./follow.ts";
export { itemsOfSession } from "./items.ts";
export { placeOfSession, readMetered } from "./metered.ts";
export { commitNotes } from "./notes.ts";
export { sessionPieces } from "./pieces.ts";
export {
  findSessionId,
  getSession,
  pageOfSpans,
  type Session,
  type Span,
  sessionState,
  wholeSpan,
} from "./session.ts";
export { traceDeliveries } from "./verify.ts";
