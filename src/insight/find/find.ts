/**
 * Find: sessions by a few letters of what they were asked, their ids, branches and commits.
 * Not here: what stands in a session's record (traces, whose list looks through it), the sections of brains (brain), entries of errors
 * files (defects).
 */
export { eraseFinds, findSessions, freshenFinds } from "./find-sessions.ts";
export { findsProjection } from "./follow-sessions.ts";
