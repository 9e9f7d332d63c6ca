/**
 * Audit: who did what, when and from where, for the people who answer for a team.
 * Not here: what machines delivered (log), and what was asked with read tokens (ask); each keeps its own record.
 */

export { eraseNames, eraseOldEvents, type Forgotten } from "./erase.ts";
export { type Actor, COMMAND_LINE, type Event, recordAct, recordEvent, SYSTEM } from "./events.ts";
export { type EventFormat, exportEvents } from "./export.ts";
export {
  type AuditStep,
  eventOfLeaf,
  eventsInLog,
  eventTexts,
  leafOfAct,
  leafOfEvent,
  walkAudit,
} from "./leaf.ts";
export { listEvents, type StoredEvent } from "./list.ts";
export { chainErased, EVENTS_ERASED, hashOfRest, NAMES_ERASED, NOTHING_ERASED } from "./stated.ts";
