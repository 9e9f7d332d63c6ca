import { type CurrentBrain, kindOf, nextCurrent } from "../brain/brain.ts";
import type { Core } from "../core.ts";
import type { Derivation, Piece } from "../derive/derive.ts";
import { changesOf, removalOf } from "./changes.ts";
import { DEFECT_KINDS, type DefectKind } from "./entry.ts";
import { parsedBlob } from "./parsed.ts";
import { rows } from "./rows.ts";

/** Row changes of one piece of work. */
const MOST_CHANGES = 250;
/** Pieces that one snapshot may take: a position is the snapshot's number times this, and which piece it was. */
const PIECES = 4_096;
/** Files of entries in one brain; there is rarely more than one of a kind. */
const MOST_FILES = 50;

/** Keeps `defects` like the errors, security and anti-patterns files of every current brain. */
export const entriesDerivation: Derivation = {
  name: "defects",
  async next(core: Core, position: number): Promise<Piece | undefined> {
    const brain = nextCurrent(core, Math.floor((position + 1) / PIECES) - 1);
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
};

/** Which kind of entries a file holds, told from its own name; undefined for the others. */
export function entriesKind(path: string): DefectKind | undefined {
  const name = path.slice(path.lastIndexOf("/") + 1);
  if (!/\.(?:md|mdx|markdown)$/i.test(name)) return undefined;
  const kind = kindOf(name);
  return DEFECT_KINDS.find((one) => one === kind);
}

/** What must change for the rows to be as the brain is, as much of it as one piece may hold. */
async function readBrain(
  core: Core,
  { teamId, repoKey, files }: CurrentBrain,
): Promise<{ changes: (() => void)[]; whole: boolean }> {
  const held = new Map(
    rows(core.store)
      .files.all(teamId, repoKey)
      .map(({ path, blobId }) => [path, blobId]),
  );
  const wanted = files.filter(([path]) => entriesKind(path) !== undefined).slice(0, MOST_FILES);
  const gone = new Set(held.keys());
  for (const [path] of wanted) gone.delete(path);
  const changes: (() => void)[] = [];
  const take = (of: readonly (() => void)[]): boolean => {
    changes.push(...of.slice(0, MOST_CHANGES - changes.length));
    return changes.length < MOST_CHANGES;
  };
  for (const path of gone) if (!take(removalOf(core, { teamId, repoKey, path }))) return { changes, whole: false };
  for (const [path, blobId] of wanted) {
    if (held.get(path) === blobId) continue;
    const file = { teamId, repoKey, path, kind: entriesKind(path) as DefectKind, blobId };
    if (!take(changesOf(core, file, await parsedBlob(core, blobId)))) return { changes, whole: false };
  }
  return { changes, whole: true };
}
