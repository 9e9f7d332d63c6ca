import type { Core } from "../../core.ts";
import { cooperative } from "../../kit/yield.ts";
import type { Batch, Projection } from "../../platform/projections/projections.ts";
import { readSessionSource, sessionsAfter, spansWith, spanTimes } from "../../record/traces/traces.ts";
import { type Edit, type Evidence, editsOf, evidenceOf, rootsOf } from "./evidence.ts";
import { type EditRow, evidenceRows, type WindowRow } from "./evidence-rows.ts";
import { nameOf } from "./paths.ts";

/** Row changes of one transaction. */
const MAX_CHANGES = 250;
/** Edits kept of one session: its last. */
const MAX_EDITS = 20_000;

type Change = () => unknown;

/**
 * Keeps trace_session_windows, trace_session_commits, trace_session_files and trace_session_edits like the sessions they come from. A delivery is a
 * piece; the rows of a large one are stored in several transactions, of which each repeated changes nothing.
 */
export const evidenceProjection: Projection = {
  name: "evidence",
  async next(core: Core, position: number): Promise<Batch | undefined> {
    const delivery = sessionsAfter(core, position);
    if (!delivery) return undefined;
    const yieldNow = cooperative(core.clock);
    let changes: Change[] = [];
    for (const id of delivery.sessionIds) {
      await yieldNow();
      changes.push(...(await changesOf(core, id)));
      while (changes.length > MAX_CHANGES) {
        const now = changes.slice(0, MAX_CHANGES);
        changes = changes.slice(MAX_CHANGES);
        await core.store.write(() => runAll(now));
      }
    }
    return { to: delivery.deliveryId, apply: () => runAll(changes) };
  },
  skip: (core, position) => sessionsAfter(core, position)?.deliveryId,
};

function runAll(changes: readonly Change[]): void {
  for (const change of changes) change();
}

/** What must change for a session's rows to say what the session says. */
async function changesOf(core: Core, id: number): Promise<Change[]> {
  const source = readSessionSource(core, id);
  if (!source) return [];
  const roots = rootsOf(source.document);
  const yieldNow = cooperative(core.clock);
  const edits: Edit[] = [];
  for (const spans of spansWith(core, id, "edits")) {
    await yieldNow();
    edits.push(...editsOf(spans, roots));
  }
  const evidence = evidenceOf(source, edits.slice(-MAX_EDITS), spanTimes(core, id));
  const { startedAt, endedAt } = evidence;
  const { teamId, repoKey, externalId, agent, model } = source;
  const wanted: WindowRow = { sessionId: id, teamId, repoKey, externalId, agent, model, startedAt, endedAt };
  const sql = evidenceRows(core.store);
  const held = sql.window.get(id);
  const changes: Change[] = [];
  // First, so that nothing refers to a session whose window is not known.
  if (!held || !isSameWindow(held, wanted)) changes.push(() => sql.putWindow.run(wanted));
  const moved = held !== undefined && held.repoKey !== repoKey;
  if (moved) changes.push(() => sql.editRepo.run(repoKey, id));
  return [
    ...changes,
    ...commitChanges(core, wanted, evidence),
    ...fileChanges(core, wanted, evidence, moved),
    ...editChanges(core, wanted, evidence),
  ];
}

function isSameWindow(a: WindowRow, b: WindowRow): boolean {
  return (["repoKey", "agent", "model", "startedAt", "endedAt"] as const).every((name) => a[name] === b[name]);
}

function commitChanges(core: Core, { sessionId, teamId }: WindowRow, { commits }: Evidence): Change[] {
  const sql = evidenceRows(core.store);
  const left = new Map(sql.commits.all(sessionId).map(({ sha, at }) => [sha, at]));
  const changes: Change[] = [];
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
): Change[] {
  const sql = evidenceRows(core.store);
  const left = new Set(sql.files.all(sessionId));
  const changes: Change[] = [];
  for (const path of files) {
    if (moved || !left.has(path)) changes.push(() => sql.putFile.run(sessionId, path, teamId, repoKey, nameOf(path)));
    left.delete(path);
  }
  for (const path of left) changes.push(() => sql.dropFile.run(sessionId, path));
  return changes;
}

/** A session grows at its end: rows of what stands unchanged before stay. */
function editChanges(core: Core, { sessionId, teamId, repoKey }: WindowRow, { edits }: Evidence): Change[] {
  const sql = evidenceRows(core.store);
  const held = sql.edits.all(sessionId);
  let same = 0;
  while (same < held.length && same < edits.length && isSameEdit(held[same] as EditRow, edits[same] as Edit)) same++;
  return [
    ...held.slice(same).map(
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
