import type { Core } from "../../core.ts";
import { instantOrNull, isoInstant } from "../../kit/clock.ts";
import { type ExportedWord, exportRows } from "./export-rows.ts";
import type { EventRow } from "./rows.ts";

const CHUNK = 500;

/** Whose triage is exported. */
interface Scope {
  /** Of classes with an entry in this repository; of all where it is null. */
  readonly repoKey: string | null;
  /** Only what this person did and what is theirs. */
  readonly personId: string | null;
}

/** What was said of a team's errors: how each stands, then what was done; objects, to be written as JSON. */
export function* exportTriage(core: Core, teamId: string, scope: Scope): Generator<object> {
  const sql = exportRows(core.store);
  const isOf = ({ repos }: { readonly repos: string | null }) =>
    scope.repoKey === null || (repos !== null && (JSON.parse(repos) as string[]).includes(scope.repoKey));
  for (let at: Pick<ExportedWord, "class" | "entryId"> | undefined = { class: "", entryId: -1 }; at; ) {
    const words: ExportedWord[] = sql.words.all({ teamId, class: at.class, entryId: at.entryId, count: CHUNK });
    for (const word of words)
      if (isOf(word) && (scope.personId === null || word.ownerId === scope.personId)) yield wordOf(word);
    at = words.length < CHUNK ? undefined : words.at(-1);
  }
  for (let at: Pick<EventRow, "class" | "id"> | undefined = { class: "", id: 0 }; at; ) {
    const events: (EventRow & { repos: string | null })[] = sql.events.all({
      ...{ teamId, class: at.class, id: at.id, count: CHUNK },
    });
    for (const event of events)
      if (isOf(event) && (scope.personId === null || event.actorId === scope.personId)) yield eventOf(event);
    at = events.length < CHUNK ? undefined : events.at(-1);
  }
}

const entryOf = ({ entryId }: { readonly entryId: number }) => (entryId === 0 ? null : entryId);

function wordOf(word: ExportedWord): object {
  const { title, ownerId, state, stateAt, snoozed, snoozedUntil, tracker } = word;
  return {
    ...{
      what: "standing",
      class: word.class,
      entry: entryOf(word),
      title,
      ownerId,
      state,
      since: instantOrNull(stateAt),
    },
    ...{ snoozed, snoozedUntil: instantOrNull(snoozedUntil), tracker },
  };
}

function eventOf(event: EventRow): object {
  const { id, at, kind, actorKind, actorId, actorLabel, otherId, body } = event;
  return {
    ...{ what: "event", id, class: event.class, entry: entryOf(event), at: isoInstant(at), kind },
    ...{ actorKind, actorId, actorLabel, otherId, body },
  };
}
