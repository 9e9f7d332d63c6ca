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
export { type ReportedSpend, reportedSpend } from "./reported-spend.ts";
export { findSessionId, getSession, type Label, type Session, type Span } from "./session.ts";
export type { StoredCounts } from "./store-batch.ts";
export { type Commit, type Edit, type Prompt, promptTitle, type Usage } from "./understood.ts";
export { type Tokens, tokensOf } from "./usage.ts";
