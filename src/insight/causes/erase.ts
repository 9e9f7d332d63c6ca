import type { Core } from "../../core.ts";
import { type EraseStep, MAX_ERASED_ROWS, portions, whileAny } from "../../kit/erase-steps.ts";
import { findDefect } from "../defects/defects.ts";
import { countCaused } from "./count-caused.ts";
import { eraseRows } from "./erase-rows.ts";
import { contestedBy } from "./follow-deliveries.ts";
import { evidenceAnew } from "./follow-sessions.ts";

/**
 * Erases what is kept of a session's part in defects. What was computed of it goes; what a person said stays, without the session
 * and what was quoted of it.
 */
function* eraseEvidence(core: Core, sessionId: number): Generator<EraseStep> {
  const sql = eraseRows(core.store);
  yield* whileAny("links", () => sql.dropLinks.run(sessionId, MAX_ERASED_ROWS).changes);
  yield* whileAny("links", () => sql.detachLinks.run(sessionId, MAX_ERASED_ROWS).changes);
  yield* whileAny("edits", () => sql.dropEdits.run(sessionId, MAX_ERASED_ROWS).changes);
  yield* whileAny("paths", () => sql.dropFiles.run(sessionId, MAX_ERASED_ROWS).changes);
  yield* whileAny("commits", () => sql.dropCommits.run(sessionId, MAX_ERASED_ROWS).changes);
  yield () => {
    sql.dropWindow.run(sessionId);
    return {};
  };
}

/** Whether anything is known of a session's part in defects. */
const hasEvidence = (core: Core, sessionId: number): boolean =>
  eraseRows(core.store).hasEvidence.get({ sessionId }) === 1;

/** Erases links of a repository's entries that are gone, a person's too: they repeat what the entry said. */
function* eraseLinksOfGone(core: Core, teamId: string, repoKey: string): Generator<EraseStep> {
  const sql = eraseRows(core.store);
  const gone = sql.ofRepo.all(teamId, repoKey).filter(({ entryId }) => findDefect(core, teamId, entryId) === undefined);
  for (const some of portions(gone))
    yield () => {
      const links = some.reduce((sum, { id }) => sum + sql.dropLink.run(id).changes, 0);
      countCaused(core, new Set(some.flatMap(({ sessionId }) => sessionId ?? [])));
      return { links };
    };
}

/**
 * Row change: forgets that a session made a commit, as only a note told. Done together with the note, because a process may end before
 * `eraseNoted`, which brings back what the session tells itself.
 */
const forgetNoted = (core: Core, teamId: string, externalId: string, commit: string): void =>
  void eraseRows(core.store).dropNoted.run({ teamId, externalId, commit });

/** Removes what notes told from what is known of sessions, once the notes are gone. */
async function* eraseNoted(core: Core, teamId: string, externalIds: Iterable<string>): AsyncGenerator<EraseStep> {
  for await (const change of evidenceAnew(core, teamId, [...externalIds]))
    yield () => {
      change();
      return {};
    };
}

/** Row change: replaces who decided on links. */
const renameDecider = (core: Core, from: string, to: string): number =>
  eraseRows(core.store).renameDecider.run(to, from, MAX_ERASED_ROWS).changes;

/** Whether there is a link still. */
const hasLink = (core: Core, id: string | null): boolean => eraseRows(core.store).hasLink.get(id) !== undefined;

/** Erasing what is known of causes. */
export const causeErasure = {
  contestedBy,
  hasLink,
  hasEvidence,
  eraseEvidence,
  eraseLinksOfGone,
  forgetNoted,
  eraseNoted,
  renameDecider,
};
