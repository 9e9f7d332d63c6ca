/**
 * Sessions: a row a session with what lists find, order and sum them by: what its document says, what it cost, what it caused.
 * Not here: the sessions themselves (traces), what usage costs (spend), what is put down to a session (causes); both say here what
 * they found.
 */
export { sessionErasure } from "./erase.ts";
export type { SessionFact } from "./fact-rows.ts";
export { sessionFacts } from "./facts.ts";
export { freshenSessions, sessionsProjection } from "./follow.ts";
export { findSessions, type SessionFilter, type SessionItem, type SessionPage } from "./list.ts";
export { SORTS, type SortBy } from "./list-rows.ts";
export { forgetSpent, noteCaused, notedCauses, noteSpent, noteSpentMore, type Spent } from "./noted.ts";
export { nameSession, repoDays, sessionFacets, sessionTitle, sumRepos, sumSessions } from "./sums.ts";
