import { statements } from "../../platform/store/store.ts";

/** What erasing takes of triage. */
export const eraseRows = statements((db) => ({
  // By triage_events_by_actor.
  forgetActor: db.prepare<[{ id: string; mark: string; most: number }]>(
    `UPDATE triage_events SET actor_id = NULL, actor_label = @mark, body = CASE kind WHEN 'commented' THEN NULL ELSE body END
     WHERE id IN (SELECT id FROM triage_events WHERE actor_id = @id LIMIT @most)`,
  ),
  // By triage_words_by_owner.
  forgetOwner: db.prepare<[string, number]>(
    `UPDATE triage_words SET owner_id = NULL, revision = revision + 1 WHERE (team_id, class, entry_id) IN (
       SELECT team_id, class, entry_id FROM triage_words WHERE owner_id = ? LIMIT ?)`,
  ),
  // A walk of the table, for one repository: classes that have no entries any more and were of it.
  goneClasses: db
    .prepare<[string, string], string>(
      `SELECT class FROM triage_classes WHERE team_id = ? AND occurrences = 0
         AND EXISTS (SELECT 1 FROM json_each(repos) WHERE value = ?)`,
    )
    .pluck(),
  // All by primary key or triage_events_by_class.
  dropEvents: db.prepare<[string, string, number]>(
    `DELETE FROM triage_events WHERE id IN (SELECT id FROM triage_events WHERE team_id = ? AND class = ? LIMIT ?)`,
  ),
  dropWords: db.prepare<[string, string, number]>(
    `DELETE FROM triage_words WHERE (team_id, class, entry_id) IN (
       SELECT team_id, class, entry_id FROM triage_words WHERE team_id = ? AND class = ? LIMIT ?)`,
  ),
  dropClass: db.prepare<[string, string]>(
    "DELETE FROM triage_classes WHERE team_id = ? AND class = ? AND occurrences = 0",
  ),
  // By triage_words_by_entry and its team.
  wordsOfEntries: db.prepare<[string], { class: string; entryId: number }>(
    "SELECT class, entry_id AS entryId FROM triage_words WHERE team_id = ? AND entry_id > 0",
  ),
  dropWord: db.prepare<[string, string, number]>(
    "DELETE FROM triage_words WHERE team_id = ? AND class = ? AND entry_id = ?",
  ),
  dropEventsOfEntry: db.prepare<[string, string, number]>(
    "DELETE FROM triage_events WHERE team_id = ? AND class = ? AND entry_id = ?",
  ),
}));
