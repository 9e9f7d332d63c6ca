import type { Core } from "../../core.ts";
import { readSha } from "../../formats/edits.ts";
import { cooperative } from "../../kit/yield.ts";
import { besideRuns, type RowChange } from "../../platform/projections/projections.ts";
import { commitNotes, readSessionSource, sessionSequence, sourceSpans } from "../../record/traces/traces.ts";
import { type Edit, EVIDENCE_MEMBERS, type Evidence, editsOf, evidenceOf, MAX_COMMITS, rootsOf } from "./evidence.ts";
import { type EditRow, evidenceRows, type WindowRow } from "./evidence-rows.ts";
import { nameOf } from "./paths.ts";

/** Edits kept of one session: its last. */
const MAX_EDITS = 20_000;

/**
 * Keeps trace_session_windows, trace_session_commits, trace_session_files and trace_session_edits like the sessions they come
 * from, and the notes that name these.
 */
export const evidenceProjection = sessionSequence.projection("evidence", changesOfAll, deliveriesFrom);

/** The next deliveries of sessions, or the next of notes, whichever come first. @param enough sessions taken together */
function deliveriesFrom(core: Core, checkpoint: number, enough = 1): ReturnType<typeof sessionSequence.after> {
  const notes = commitNotes.namedAfter(core, checkpoint);
  for (const most of new Set([enough, 1])) {
    const sessions = sessionSequence.after(core, checkpoint, most);
    if (!notes || (sessions && sessions.deliveryId <= notes.deliveryId)) return sessions;
  }
  if (!notes) return undefined;
  const { deliveryId } = notes;
  const named = notes.sessions.flatMap(({ teamId, name }) => sessionsNamed(core, teamId, name));
  return { deliveryId, sessionIds: [...new Set([...named, ...sessionsOnceNamed(core, deliveryId)])] };
}

/** The sessions known as makers of a commit whose note came anew with a delivery: the note may not name them any more. */
const sessionsOnceNamed = (core: Core, deliveryId: number): number[] =>
  commitNotes.replacedBetween(core, deliveryId - 1, deliveryId).flatMap(({ teamId, sha: written }) => {
    const sha = readSha(written) ?? "";
    return evidenceRows(core.store)
      .makers.all(teamId, sha, sha)
      .map(({ sessionId }) => sessionId);
  });

/** The sessions of a team that agents call so, as far as they were followed: each device may know of one. */
const sessionsNamed = (core: Core, teamId: string, externalId: string): number[] =>
  evidenceRows(core.store)
    .windowsNamed.all(teamId, externalId)
    .map(({ sessionId }) => sessionId);

/** The sessions that notes name that came after a delivery, up to and with another; those that were not followed yet left out. */
export const sessionsNoted = (core: Core, after: number, upTo: number) =>
  commitNotes
    .namedBetween(core, after, upTo)
    .flatMap(({ teamId, name }) => evidenceRows(core.store).windowsNamed.all(teamId, name))
    .map(({ sessionId, teamId, repoKey }) => ({ id: sessionId, teamId, repoKey }));

/** What must change for what is known of these sessions to be what they and the notes say now. */
export const evidenceAnew = (core: Core, teamId: string, externalIds: readonly string[]): AsyncGenerator<RowChange> =>
  besideRuns(core, evidenceProjection, () =>
    changesOfAll(
      core,
      externalIds.flatMap((externalId) => sessionsNamed(core, teamId, externalId)),
    ),
  );

async function* changesOfAll(core: Core, sessionIds: readonly number[]): AsyncGenerator<RowChange> {
  const yieldNow = cooperative(core.clock);
  for (const id of sessionIds) {
    await yieldNow();
    yield* await changesOf(core, id);
  }
}

/** What must change for a session's rows to say what the session says. */
async function changesOf(core: Core, id: number): Promise<RowChange[]> {
  const source = readSessionSource(core, id, EVIDENCE_MEMBERS);
  if (!source) return [];
  const roots = rootsOf(source.document);
  const edits: Edit[] = [];
  for await (const spans of sourceSpans.withEdits(core, id)) edits.push(...editsOf(spans, roots));
  const noted = commitNotes.commitsOf(core, source.teamId, source.externalId, MAX_COMMITS);
  const evidence = evidenceOf(source, edits.slice(-MAX_EDITS), await sourceSpans.times(core, id), noted);
  const { startedAt, endedAt } = evidence;
  const { teamId, repoKey, externalId, agent, model } = source;
  const window: WindowRow = { sessionId: id, teamId, repoKey, externalId, agent, model, startedAt, endedAt };
  const sql = evidenceRows(core.store);
  const stored = sql.window.get(id);
  const changes: RowChange[] = [];
  // First, so that nothing refers to a session whose window is not known.
  if (!stored || !isSameWindow(stored, window)) changes.push(() => sql.putWindow.run(window));
  const moved = stored !== undefined && stored.repoKey !== repoKey;
  if (moved) changes.push(() => sql.editRepo.run(repoKey, id));
  return [
    ...changes,
    ...commitChanges(core, window, evidence),
    ...fileChanges(core, window, evidence, moved),
    ...editChanges(core, window, evidence),
  ];
}

function isSameWindow(a: WindowRow, b: WindowRow): boolean {
  return (["repoKey", "agent", "model", "startedAt", "endedAt"] as const).every((name) => a[name] === b[name]);
}

function commitChanges(core: Core, { sessionId, teamId }: WindowRow, { commits }: Evidence): RowChange[] {
  const sql = evidenceRows(core.store);
  const left = new Map(sql.commits.all(sessionId).map(({ sha, at }) => [sha, at]));
  const changes: RowChange[] = [];
  for (const { sha, at } of commits) {
    if (left.get(sha) !== at) changes.push(() => sql.putCommit.run(teamId, sha, sessionId, at));
    left.delete(sha);
  }
  for (const sha of left.keys()) changes.push(() => sql.dropCommit.run(teamId, sha, sessionId));
  return changes;
}

function fileChanges(
  core: Core,
  { sessionId, teamId, repoKey }: WindowRow,
  { files }: Evidence,
  moved: boolean,
): RowChange[] {
  const sql = evidenceRows(core.store);
  const left = new Set(sql.files.all(sessionId));
  const changes: RowChange[] = [];
  for (const path of files) {
    if (moved || !left.has(path)) changes.push(() => sql.putFile.run(sessionId, path, teamId, repoKey, nameOf(path)));
    left.delete(path);
  }
  for (const path of left) changes.push(() => sql.dropFile.run(sessionId, path));
  return changes;
}

/** A session grows at its end: rows of what stands unchanged before stay. */
function editChanges(core: Core, { sessionId, teamId, repoKey }: WindowRow, { edits }: Evidence): RowChange[] {
  const sql = evidenceRows(core.store);
  const stored = sql.edits.all(sessionId);
  let same = 0;
  while (same < stored.length && same < edits.length && isSameEdit(stored[same] as EditRow, edits[same] as Edit))
    same++;
  return [
    ...stored.slice(same).map(
      ({ id }) =>
        () =>
          sql.dropEdit.run(id),
    ),
    ...edits.slice(same).map((edit) => () => {
      const { path, at, spanId, startLine, endLine, shift, commit } = edit;
      sql.putEdit.run(teamId, repoKey, path, nameOf(path), at, sessionId, spanId, startLine, endLine, shift, commit);
    }),
  ];
}

function isSameEdit(row: EditRow, edit: Edit): boolean {
  return (["path", "at", "spanId", "startLine", "endLine", "shift", "commit"] as const).every(
    (name) => row[name] === edit[name],
  );
}
