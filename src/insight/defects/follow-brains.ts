import type { Core } from "../../core.ts";
import { isFromPack, kindOf } from "../../formats/brain-kinds.ts";
import { type Batch, type Projection, recordFailure } from "../../platform/projections/projections.ts";
import { type CurrentBrain, nextCurrent } from "../../record/brain/brain.ts";
import { changesOf, removalOf } from "./changes.ts";
import { DEFECT_KINDS, type DefectKind } from "./entry.ts";
import { parsedBlob } from "./parsed.ts";
import { rows } from "./rows.ts";

/** Row changes of one piece of work. */
const MAX_CHANGES = 250;
/** Pieces that one snapshot may take: a position is the snapshot's number times this, and which piece it was. */
const PIECES = 4_096;
/** Files of entries in one brain; there is rarely more than one of a kind. */
const MAX_FILES = 50;

/** Keeps `defects` like the errors, security and anti-patterns files of every current brain. */
export const entriesProjection: Projection = {
  name: "defects",
  async next(core: Core, position: number): Promise<Batch | undefined> {
    const brain = brainAfter(core, position);
    if (!brain) return undefined;
    const first = brain.snapshotId * PIECES;
    const { changes, whole } = await readBrain(core, brain);
    return {
      to: whole ? first + PIECES - 1 : Math.max(first, position) + 1,
      apply: () => {
        for (const change of changes) change();
      },
    };
  },
  skip(core, position) {
    const brain = brainAfter(core, position);
    return brain && (brain.snapshotId + 1) * PIECES - 1;
  },
};

const brainAfter = (core: Core, position: number) => nextCurrent(core, Math.floor((position + 1) / PIECES) - 1);

/** Which kind of entries of the team's own a file holds, told from its own name; undefined for the others. */
export function entriesKind(path: string): DefectKind | undefined {
  if (isFromPack(path)) return undefined;
  const name = path.slice(path.lastIndexOf("/") + 1);
  if (!/\.(?:md|mdx|markdown)$/i.test(name)) return undefined;
  const kind = kindOf(name);
  return DEFECT_KINDS.find((one) => one === kind);
}

/** What must change for the rows to be as the brain is, as much of it as one piece may hold. */
async function readBrain(
  core: Core,
  { teamId, repoKey, snapshotId, files }: CurrentBrain,
): Promise<{ changes: (() => unknown)[]; whole: boolean }> {
  const sql = rows(core.store);
  const held = new Map(sql.files.all(teamId, repoKey).map(({ path, blobId }) => [path, blobId]));
  const wanted = files.filter(([path]) => entriesKind(path) !== undefined).slice(0, MAX_FILES);
  const gone = new Set([...held.keys(), ...sql.paths.all(teamId, repoKey)]);
  for (const [path] of wanted) gone.delete(path);
  const changes: (() => unknown)[] = [];
  const take = (of: readonly (() => unknown)[]): boolean => {
    changes.push(...of.slice(0, MAX_CHANGES - changes.length));
    return changes.length < MAX_CHANGES;
  };
  const adopted = new Set<number>();
  for (const [path, blobId] of wanted) {
    if (held.get(path) === blobId) continue;
    const file = { teamId, repoKey, path, kind: entriesKind(path) as DefectKind, blobId };
    const parsed = await parsedBlob(core, blobId);
    const { unreadable } = parsed;
    if (unreadable !== undefined)
      changes.push(() => recordFailure(core, entriesProjection.name, snapshotId * PIECES, `${path}: ${unreadable}`));
    const strays = [...gone].flatMap((from) => sql.ofFile.all(teamId, repoKey, from));
    const { all, moved } = changesOf(
      core,
      file,
      parsed,
      strays.filter(({ id }) => !adopted.has(id)),
    );
    for (const { id } of moved) adopted.add(id);
    if (!take(all)) return { changes, whole: false };
  }
  // After the others: entries may have gone from these files to them.
  for (const path of gone)
    if (!take(removalOf(core, { teamId, repoKey, path }, adopted))) return { changes, whole: false };
  return { changes, whole: true };
}
