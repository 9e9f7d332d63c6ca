import type { Core } from "../../core.ts";
import { type EventRow, rows } from "./rows.ts";
import { type Owner, ownersOf } from "./standing.ts";

/** Something that was said or done of a class or of one of its entries, or that it came again. */
export interface TimelineEntry extends Omit<EventRow, "teamId" | "class"> {
  /** The person whom it was given to. */
  readonly person: Owner | null;
}

const MAX_EVENTS = 200;

/** What was said and done of a class, the newest first; 200 at most. @param entryId only what was of this entry */
export function timelineOf(core: Core, teamId: string, fingerprint: string, entryId?: number): TimelineEntry[] {
  const events = rows(core.store).events.all(teamId, fingerprint, entryId ?? null, MAX_EVENTS);
  const people = ownersOf(
    core,
    events.map(({ kind, otherId }) => (kind === "assigned" ? otherId : null)),
  );
  return events.map(({ teamId: _, class: __, ...event }) => ({
    ...event,
    person: event.kind === "assigned" ? (people.get(event.otherId ?? "") ?? null) : null,
  }));
}
