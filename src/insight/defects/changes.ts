import type { Core } from "../../core.ts";
import type { DefectKind } from "../../formats/brain-kinds.ts";
import type { Entry } from "../../formats/errors/entry.ts";
import { fold, onWire } from "../../formats/errors/fingerprint.ts";
import type { ParsedFile } from "../../formats/errors/parse.ts";
import { DAY_MS } from "../../kit/clock.ts";
import { sha256 } from "../../kit/hash.ts";
import { notify } from "../../platform/notices/notices.ts";
import type { RowChange } from "../../platform/projections/projections.ts";
import type { ClassChanges } from "./class-changes.ts";
import { matchEntries, matchMoved } from "./match.ts";
import { type DefectRow, rows } from "./rows.ts";

interface FilePlace {
  readonly teamId: string;
  readonly repoKey: string;
  readonly path: string;
}

/**
 * Row changes that make a file's rows like what was read of it; the last one notes that they are. An entry that was there before keeps its
 * row and number, wherever it stands now; one that comes back gets its old number. If only the first of the changes are made, the rest is
 * found again.
 * @param strays rows of files of the repository that are gone: an entry may have come from there
 * @param classes is told of the classes that each change touches
 */
export function changesOf(
  core: Core,
  { teamId, repoKey, path, kind, blobId }: FilePlace & { readonly kind: DefectKind; readonly blobId: number },
  { entries, skipped }: ParsedFile,
  strays: readonly DefectRow[],
  classes: ClassChanges,
): RowChange[] {
  const sql = rows(core.store);
  const stored = sql.ofFile.all(teamId, repoKey, path);
  const known = matchEntries(stored, entries);
  const moved = matchMoved(strays, entries, known);
  const gone = new Set(stored);
  const parked: RowChange[] = [];
  const changes: RowChange[] = [];
  for (const entry of entries) {
    const row = known.get(entry) ?? moved.get(entry);
    const { heading, ordinal, line } = entry;
    if (!row) {
      changes.push(() => {
        // It may have stood only in another branch for a while.
        const before = sql.takeGone.get(teamId, repoKey, digestOf(path, entry)) ?? null;
        const added = Number(
          sql.insert.run(before, teamId, repoKey, path, kind, heading, ordinal, ...columnsOf(entry)).lastInsertRowid,
        );
        classes.join(entry.fingerprint, added);
        if (kind === "error" && before === null) notifyNew(core, { teamId, repoKey, id: added }, entry);
      });
      continue;
    }
    gone.delete(row);
    const stays = row.path === path && row.heading === heading && row.ordinal === ordinal;
    if (!stays || row.kind !== kind || !isSame(row, entry)) {
      // Entries may swap places, and no two may have the same one at any moment.
      if (!stays && row.ordinal >= 0) parked.push(() => sql.park.run(row.id));
      changes.push(() => {
        sql.update.run(path, kind, heading, ordinal, ...columnsOf(entry), row.id);
        classes.touch(row.fingerprint);
        if (!row.fingerprint.equals(entry.fingerprint)) classes.join(entry.fingerprint, row.id);
      });
    } else if (row.line !== line) changes.push(() => sql.move.run(line, row.id));
  }
  return [
    ...removals(core, { teamId, repoKey }, gone, classes),
    ...parked,
    ...changes,
    () => sql.setFile.run(teamId, repoKey, path, kind, blobId, entries.length, skipped),
  ];
}

/** Entries dated before that are history, which a brain brings when it is first read. */
const RECENT_MS = 7 * DAY_MS;
/** Entries of a class that are counted for a notice, at most: thousands may come at once, and each is counted. */
const MAX_COUNTED = 100;

/** Row change: tells whoever wants to hear of it that there is a new entry, and whether its class was there before. */
function notifyNew(
  core: Core,
  { teamId, repoKey, id }: { readonly teamId: string; readonly repoKey: string; readonly id: number },
  { date, title, fingerprint }: Entry,
): void {
  if (Date.parse(date) < core.clock.now() - RECENT_MS) return;
  const occurrences = rows(core.store).countOfClass.get(teamId, fingerprint, MAX_COUNTED) ?? 1;
  notify(core, {
    type: occurrences > 1 ? "defect.recurred" : "defect.new",
    teamId,
    path: `/errors/${id}`,
    data: { entry: id, title, date, fingerprint: onWire(fingerprint), occurrences, repo: repoKey },
    repoKey,
  });
}

/** Row changes after which nothing is left of a file. */
export function removalOf(core: Core, { teamId, repoKey, path }: FilePlace, classes: ClassChanges): RowChange[] {
  const sql = rows(core.store);
  return [
    ...removals(core, { teamId, repoKey }, sql.ofFile.all(teamId, repoKey, path), classes),
    () => sql.dropFile.run(teamId, repoKey, path),
  ];
}

const removals = (
  core: Core,
  { teamId, repoKey }: Omit<FilePlace, "path">,
  gone: Iterable<DefectRow>,
  classes: ClassChanges,
): RowChange[] =>
  Array.from(gone, (row) => () => {
    const { id, path, fingerprint } = row;
    rows(core.store).putGone.run(teamId, repoKey, digestOf(path, row), id);
    rows(core.store).remove.run(id);
    classes.touch(fingerprint);
  });

const DIGEST_BYTES = 16;

/** Recognises an entry that was removed and comes back: by its file, date, title and rule, and its place among equal ones. */
const digestOf = (path: string, { date, title, fingerprint, ordinal }: Entry | DefectRow): Buffer =>
  sha256(JSON.stringify([path, date, fold(title), fingerprint.toString("hex"), ordinal])).subarray(0, DIGEST_BYTES);

/** Columns from `date` on, as the table has them. */
function columnsOf(entry: Entry): unknown[] {
  const { date, title, line, open, fingerprint, rule, commits, files } = entry;
  return [date, title, line, open ? 1 : 0, fingerprint, rule, JSON.stringify(commits), JSON.stringify(files)];
}

function isSame(row: DefectRow, entry: Entry): boolean {
  return (
    row.date === entry.date &&
    row.title === entry.title &&
    row.open === (entry.open ? 1 : 0) &&
    row.fingerprint.equals(entry.fingerprint) &&
    row.rule === entry.rule &&
    row.commits === JSON.stringify(entry.commits) &&
    row.files === JSON.stringify(entry.files)
  );
}
