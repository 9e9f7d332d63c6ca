import type { Core } from "../../core.ts";
import { type DefectKind, entriesKind } from "../../formats/brain-kinds.ts";
import { type ParsedFile, parseSteps } from "../../formats/errors/parse.ts";
import { MAX_ERASED_ROWS, whileAny } from "../../kit/erase-steps.ts";
import { inSlices } from "../../kit/slices.ts";
import { cooperative } from "../../kit/yield.ts";
import { besideRuns, type Projection, recordFailure, refreshWithin } from "../../platform/projections/projections.ts";
import { brainSequence, currentBrains, readBlob } from "../../record/brain/brain.ts";
import { changesOf, removalOf } from "./changes.ts";
import { ClassChanges } from "./class-changes.ts";
import { rows } from "./rows.ts";

type CurrentBrain = ReturnType<typeof currentBrains>[number];

/** Files of entries in one brain; there is rarely more than one of a kind. */
const MAX_FILES = 50;

/** Keeps `defects` like the errors, security and anti-patterns files of every current brain. */
export const entriesProjection: Projection = {
  name: "defects",
  newest: brainSequence.newest,
  next(core, checkpoint) {
    const brain = brainSequence.next(core, checkpoint);
    return brain && { to: brain.snapshotId, before: storeBrain(core, brain) };
  },
  skip: (core, checkpoint) => brainSequence.next(core, checkpoint)?.snapshotId,
};

/**
 * The row changes that make a repository's entries like its current brain, whatever they were before, and forget those that are gone: for
 * when something of it was erased.
 */
export async function* entriesAnew(core: Core, teamId: string, repoKey: string): AsyncGenerator<() => void> {
  yield* besideRuns(core, entriesProjection, () => {
    const current = currentBrains(core, teamId).find((brain) => brain.repoKey === repoKey);
    return storeBrain(core, current ?? { teamId, repoKey, snapshotId: 0, files: [] });
  });
  yield* whileAny("entries", () => rows(core.store).dropGone.run(teamId, repoKey, MAX_ERASED_ROWS).changes);
}

/** For pages and briefings: brings the entries up to what was delivered where that is soon done, else what stands is shown. */
export const freshenEntries = (core: Core): Promise<void> => refreshWithin(core, entriesProjection);

/** Row changes that bring the entries' rows to what the brain says, file by file: the next file is read once the one before it is stored. */
async function* storeBrain(core: Core, brain: CurrentBrain): AsyncGenerator<() => void> {
  const { teamId, repoKey, snapshotId } = brain;
  const sql = rows(core.store);
  const stored = new Map(sql.files.all(teamId, repoKey).map(({ path, blobId }) => [path, blobId]));
  const current = brain.files.filter(([path]) => entriesKind(path) !== undefined).slice(0, MAX_FILES);
  const gone = new Set([...stored.keys(), ...sql.paths.all(teamId, repoKey)]);
  for (const [path] of current) gone.delete(path);
  const classes = new ClassChanges(core, teamId);
  for (const [path, blobId] of current) {
    if (stored.get(path) === blobId) continue;
    const file = { teamId, repoKey, path, kind: entriesKind(path) as DefectKind, blobId };
    const parsed = await readEntries(core, blobId);
    const strays = [...gone].flatMap((from) => sql.ofFile.all(teamId, repoKey, from));
    const changes = changesOf(core, file, parsed, strays, classes);
    const { unreadable } = parsed;
    if (unreadable !== undefined)
      changes.unshift(() => recordFailure(core, entriesProjection.name, snapshotId, `${path}: ${unreadable}`));
    yield* classes.inBatches(changes);
  }
  // After the other files: entries may have moved from these files to them.
  for (const path of gone) yield* classes.inBatches(removalOf(core, { teamId, repoKey, path }, classes));
}

/** One file that cannot be parsed must not keep the others of its brain, and every later brain, waiting. */
async function readEntries(core: Core, blobId: number): Promise<ParsedFile> {
  const yieldNow = cooperative(core.clock);
  const markdown = readBlob(core, blobId);
  try {
    return await inSlices(parseSteps(markdown), yieldNow);
  } catch (error) {
    core.log.error("entries_unreadable", { blob: blobId, cause: String(error) });
    return { entries: [], skipped: 1, unreadable: (error as Error).message };
  }
}
