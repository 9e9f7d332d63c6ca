import { structuredPatch } from "diff";
import type { Core } from "../../core.ts";
import { browseRows, type SnapshotFacts } from "./browse-rows.ts";
import { type Changes, compareManifests, findSnapshot, manifestReader } from "./manifests.ts";
import { type Kind, kindOf } from "./paths.ts";

export interface DiffLine {
  readonly kind: "same" | "added" | "removed";
  readonly text: string;
}

/** Lines that changed, with three of what surrounds them. Line numbers are 1-based. */
export interface Hunk {
  readonly oldStart: number;
  readonly newStart: number;
  readonly lines: readonly DiffLine[];
}

export interface Diff {
  /** Empty when the texts are the same, and when they are too different. */
  readonly hunks: readonly Hunk[];
  /** The texts are too different to show line by line: finding how they differ would take too long. */
  readonly tooDifferent: boolean;
}

/** Bounds on one comparison, whose work grows with the lines times the edits and which nothing interrupts. */
const MAX_EDITS = 2_000;
const MAX_MS = 100;
/** Of both texts together; a file of prose at its cap has a tenth of it. */
const MAX_LINES = 200_000;
const KINDS = { "+": "added", "-": "removed", " ": "same" } as const;

/** Compares two texts line by line (Myers, 1986). */
export function diffFiles(old: string, now: string): Diff {
  if (countLines(old) + countLines(now) > MAX_LINES) return { hunks: [], tooDifferent: true };
  const patch = structuredPatch("", "", old, now, undefined, undefined, {
    context: 3,
    maxEditLength: MAX_EDITS,
    timeout: MAX_MS,
  });
  if (!patch) return { hunks: [], tooDifferent: true };
  const hunks = patch.hunks.map(({ oldStart, newStart, lines }) => ({
    oldStart,
    newStart,
    // "\ No newline at end of file" is no line of either text.
    lines: lines
      .filter((line) => !line.startsWith("\\"))
      .map((line) => ({ kind: KINDS[line[0] as keyof typeof KINDS], text: line.slice(1) })),
  }));
  return { hunks, tooDifferent: false };
}

/** Stops counting once it is more than are compared. */
function countLines(text: string): number {
  let lines = 1;
  for (let at = text.indexOf("\n"); at !== -1 && lines <= MAX_LINES; at = text.indexOf("\n", at + 1)) lines++;
  return lines;
}

export interface FileChange {
  readonly path: string;
  readonly kind: Kind;
  readonly change: "added" | "changed" | "removed";
  /** Sizes on either side; null where the file is absent. */
  readonly oldBytes: number | null;
  readonly newBytes: number | null;
}

export interface SnapshotDiff {
  /** Null: compared with nothing, so that every file is new. */
  readonly from: SnapshotFacts | null;
  readonly to: SnapshotFacts;
  /** By path. */
  readonly files: readonly FileChange[];
}

/**
 * Which files differ between two snapshots of a repository.
 * @param fromId null compares with nothing
 * @returns undefined when the team has no such snapshots
 */
export function diffSnapshots(
  core: Core,
  teamId: string,
  repoKey: string,
  fromId: number | null,
  toId: number,
): SnapshotDiff | undefined {
  const sides = findSides(core, teamId, repoKey, fromId, toId);
  if (!sides) return undefined;
  const changes = compareManifests(sides.old, sides.now);
  const bytes = (blob: number | undefined) =>
    blob === undefined ? null : ((browseRows(core.store).blobBytes.get(blob) as number | undefined) ?? null);
  const listed = (change: keyof Changes) =>
    changes[change].map((path) => ({
      path,
      kind: kindOf(path),
      change,
      oldBytes: bytes(sides.old.get(path)),
      newBytes: bytes(sides.now.get(path)),
    }));
  const files = [...listed("added"), ...listed("changed"), ...listed("removed")];
  return { from: sides.from, to: sides.to, files: files.sort((a, b) => (a.path < b.path ? -1 : 1)) };
}

/** How one file differs between two snapshots. @returns undefined when neither has it, or there are no such snapshots */
export function diffSnapshotFile(
  core: Core,
  teamId: string,
  repoKey: string,
  fromId: number | null,
  toId: number,
  path: string,
): Diff | undefined {
  const sides = findSides(core, teamId, repoKey, fromId, toId);
  if (!sides || (!sides.old.has(path) && !sides.now.has(path))) return undefined;
  const text = (blob: number | undefined) =>
    blob === undefined ? "" : (browseRows(core.store).blob.get(blob)?.content ?? "");
  return diffFiles(text(sides.old.get(path)), text(sides.now.get(path)));
}

function findSides(core: Core, teamId: string, repoKey: string, fromId: number | null, toId: number) {
  const from = fromId === null ? null : findSnapshot(core, teamId, repoKey, fromId);
  const to = findSnapshot(core, teamId, repoKey, toId);
  if (from === undefined || !to) return undefined;
  const manifest = manifestReader(core);
  const old: ReadonlyMap<string, number> = from ? manifest(from.manifestId) : new Map();
  return { from, to, old, now: manifest(to.manifestId) };
}
