import { statements } from "../../platform/store/store.ts";
import type { EventRow, WordRow } from "./rows.ts";

/** A word with its class, as an export tells of it. */
export interface ExportedWord extends WordRow {
  readonly title: string | null;
  readonly repos: string | null;
}

export const exportRows = statements((db) => ({
  // By primary key, a bounded part.
  words: db.prepare<[{ teamId: string; class: string; entryId: number; count: number }], ExportedWord>(
    `SELECT w.team_id AS teamId, w.class, w.entry_id AS entryId, w.owner_id AS ownerId, w.state, w.state_at AS stateAt, w.snoozed,
       w.snoozed_until AS snoozedUntil, w.tracker, w.revision, c.title, c.repos
     FROM triage_words w LEFT JOIN triage_classes c ON c.team_id = w.team_id AND c.class = w.class
     WHERE w.team_id = @teamId AND (w.class, w.entry_id) > (@class, @entryId) ORDER BY w.class, w.entry_id LIMIT @count`,
  ),
  events: db.prepare<
    [{ teamId: string; class: string; id: number; count: number }],
    EventRow & { repos: string | null }
  >(
    `SELECT e.id, e.team_id AS teamId, e.class, e.entry_id AS entryId, e.at, e.kind, e.actor_kind AS actorKind,
       e.actor_id AS actorId, e.actor_label AS actorLabel, e.other_id AS otherId, e.body, c.repos
     FROM triage_events e LEFT JOIN triage_classes c ON c.team_id = e.team_id AND c.class = e.class
     WHERE e.team_id = @teamId AND (e.class, e.id) > (@class, @id) ORDER BY e.class, e.id LIMIT @count`,
  ),
}));
