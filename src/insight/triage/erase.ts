import type { Core } from "../../core.ts";
import { type EraseStep, MAX_ERASED_ROWS, portions, whileAny } from "../../kit/erase-steps.ts";
import { eraseRows } from "./erase-rows.ts";

/** Erases what was said of a repository's classes and entries that are gone. What another repository has as well stays. */
function* eraseGone(
  core: Core,
  teamId: string,
  repoKey: string,
  isThere: (entryId: number) => boolean,
): Generator<EraseStep> {
  const sql = eraseRows(core.store);
  for (const fingerprint of sql.goneClasses.all(teamId, repoKey)) {
    yield* whileAny("comments", () => sql.dropEvents.run(teamId, fingerprint, MAX_ERASED_ROWS).changes);
    yield* whileAny("triage", () => sql.dropWords.run(teamId, fingerprint, MAX_ERASED_ROWS).changes);
    yield () => ({ triage: sql.dropClass.run(teamId, fingerprint).changes });
  }
  const gone = sql.wordsOfEntries.all(teamId).filter(({ entryId }) => !isThere(entryId));
  for (const some of portions(gone))
    yield () => {
      for (const one of some) sql.dropEventsOfEntry.run(teamId, one.class, one.entryId);
      return { triage: some.reduce((sum, one) => sum + sql.dropWord.run(teamId, one.class, one.entryId).changes, 0) };
    };
}

/** Takes a person out: what they wrote goes, that they did something stays without their name, and nothing is theirs any more. */
function* erasePerson(core: Core, id: string, mark: string): Generator<EraseStep> {
  const sql = eraseRows(core.store);
  yield* whileAny("comments", () => sql.forgetActor.run({ id, mark, most: MAX_ERASED_ROWS }).changes);
  yield* whileAny("assignments", () => sql.forgetOwner.run(id, MAX_ERASED_ROWS).changes);
}

/** Erasing what people said of errors. */
export const triageErasure = { eraseGone, erasePerson };
