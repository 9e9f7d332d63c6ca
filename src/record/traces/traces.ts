/**
 * Traces: agent sessions with their spans and labels, merged as they grow; notes of commits, which name sessions.
 * Not here: the raw stream of entries (telemetry), what a session's free-form parts say (formats), what sessions cost (spend) or
 * caused (causes).
 */
export {
  listSessions,
  type SessionRow,
  sessionBeside,
  textFinder,
} from "./browse.ts";
export { sessionCounts } from "./counts.ts";
export { traceErasure } from "./erase.ts";
export { traceExport } from "./export.ts";
export {
  readSessionSource,
  type SessionSource,
  sessionSequence,
  sourceSpans,
} from "./follow.ts";
export { itemsOfSession } from "./items.ts";
export { placeOfSession, readMetered } from "./metered.ts";
export { commitNotes } from "./notes.ts";
export { sessionPieces } from "./pieces.ts";
export { runningSessions } from "./running.ts";
export {
  findSessionId,
  getSession,
  type Session,
  type Span,
  sessionSpans,
  sessionState,
} from "./session.ts";
export { sessionTwins } from "./twins.ts";
export { traceDeliveries } from "./verify.ts";
