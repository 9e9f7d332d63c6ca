import type { Core } from "../core.ts";
import type { DefectKind, Entry } from "./entry.ts";
import type { ParsedFile } from "./parse.ts";
import { type DefectRow, rows } from "./rows.ts";

interface FilePlace {
  readonly teamId: string;
  readonly repoKey: string;
  readonly path: string;
}

/** Row changes that make a file's rows like what was read of it; the last notes that they are. */
export function changesOf(
  core: Core,
  file: FilePlace & { readonly kind: DefectKind; readonly blobId: number },
  { entries, skipped }: ParsedFile,
): (() => void)[] {
  const { teamId, repoKey, path, kind, blobId } = file;
  const sql = rows(core.store);
  const left = new Map(sql.ofFile.all(teamId, repoKey, path).map((row) => [keyOf(row), row]));
  const changes: (() => void)[] = [];
  for (const entry of entries) {
    const row = left.get(keyOf(entry));
    left.delete(keyOf(entry));
    const { heading, ordinal, line } = entry;
    if (!row) changes.push(() => sql.insert.run(teamId, repoKey, path, kind, heading, ordinal, ...columnsOf(entry)));
    else if (row.kind !== kind || !isSame(row, entry))
      changes.push(() => sql.update.run(kind, ...columnsOf(entry), row.id));
    else if (row.line !== line) changes.push(() => sql.move.run(line, row.id));
  }
  // Before the others, so that no key is taken twice.
  const removals = [...left.values()].map(
    ({ id }) =>
      () =>
        void sql.remove.run(id),
  );
  return [...removals, ...changes, () => sql.setFile.run(teamId, repoKey, path, kind, blobId, entries.length, skipped)];
}

/** Row changes after which nothing is left of a file. */
export function removalOf(core: Core, { teamId, repoKey, path }: FilePlace): (() => void)[] {
  const sql = rows(core.store);
  const found = sql.ofFile.all(teamId, repoKey, path);
  return [
    ...found.map(
      ({ id }) =>
        () =>
          void sql.remove.run(id),
    ),
    () => sql.dropFile.run(teamId, repoKey, path),
  ];
}

const keyOf = ({ heading, ordinal }: Pick<Entry, "heading" | "ordinal">) => `${ordinal} ${heading}`;

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
