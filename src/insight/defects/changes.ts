import type { Core } from "../../core.ts";
import type { DefectKind, Entry } from "./entry.ts";
import { matchEntries, matchMoved } from "./match.ts";
import type { ParsedFile } from "./parse.ts";
import { type DefectRow, rows } from "./rows.ts";

interface FilePlace {
  readonly teamId: string;
  readonly repoKey: string;
  readonly path: string;
}

type Change = () => unknown;

/**
 * Row changes that make a file's rows like what was read of it; the last notes that they are. An entry that was there before
 * keeps its row and with it its number, wherever it stands now. As many of them as fit into a transaction may be done: what is
 * left is found again.
 * @param strays rows of files of the repository that are gone: an entry may have come from there
 * @returns with the changes the rows that did
 */
export function changesOf(
  core: Core,
  file: FilePlace & { readonly kind: DefectKind; readonly blobId: number },
  { entries, skipped }: ParsedFile,
  strays: readonly DefectRow[],
): { readonly all: readonly Change[]; readonly moved: readonly DefectRow[] } {
  const { teamId, repoKey, path, kind, blobId } = file;
  const sql = rows(core.store);
  const held = sql.ofFile.all(teamId, repoKey, path);
  const known = matchEntries(held, entries);
  const moved = matchMoved(strays, entries, known);
  const gone = new Set(held);
  const parked: Change[] = [];
  const changes: Change[] = [];
  for (const entry of entries) {
    const row = known.get(entry) ?? moved.get(entry);
    const { heading, ordinal, line } = entry;
    if (!row) {
      changes.push(() => sql.insert.run(teamId, repoKey, path, kind, heading, ordinal, ...columnsOf(entry)));
      continue;
    }
    gone.delete(row);
    const stays = row.path === path && row.heading === heading && row.ordinal === ordinal;
    if (!stays || row.kind !== kind || !isSame(row, entry)) {
      // Entries may change places with each other, and no two may have one at any moment.
      if (!stays && row.ordinal >= 0) parked.push(() => sql.park.run(row.id));
      changes.push(() => sql.update.run(path, kind, heading, ordinal, ...columnsOf(entry), row.id));
    } else if (row.line !== line) changes.push(() => sql.move.run(line, row.id));
  }
  const removals = [...gone].map(
    ({ id }): Change =>
      () =>
        sql.remove.run(id),
  );
  const noted: Change = () => sql.setFile.run(teamId, repoKey, path, kind, blobId, entries.length, skipped);
  return { all: [...removals, ...parked, ...changes, noted], moved: [...moved.values()] };
}

/** Row changes after which nothing is left of a file. @param adopted numbers of rows that another file has taken over */
export function removalOf(core: Core, { teamId, repoKey, path }: FilePlace, adopted: ReadonlySet<number>): Change[] {
  const sql = rows(core.store);
  const found = sql.ofFile.all(teamId, repoKey, path).filter(({ id }) => !adopted.has(id));
  return [
    ...found.map(
      ({ id }): Change =>
        () =>
          sql.remove.run(id),
    ),
    () => sql.dropFile.run(teamId, repoKey, path),
  ];
}

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
