import type { Core } from "../../core.ts";
import { DEFECT_KINDS, type DefectKind } from "../../formats/brain-kinds.ts";
import type { Defect } from "./entry.ts";
import { type DefectRow, rows } from "./rows.ts";

/** Which of a team's defects; all without it. */
export interface DefectFilter {
  readonly repoKey?: string | undefined;
  /** YYYY-MM-DD; that day counts. */
  readonly fromDate?: string | undefined;
  readonly kinds?: readonly string[] | undefined;
}

/**
 * A team's defects, newest first; those of one day in the order of their files. They are as fresh as `entriesProjection`,
 * which a caller that needs the latest brings up to date first.
 */
export function listDefects(core: Core, teamId: string, filter: DefectFilter = {}): Defect[] {
  const { repoKey, fromDate = "", kinds = DEFECT_KINDS } = filter;
  return rows(core.store).list(teamId, repoKey, fromDate, JSON.stringify(kinds)).map(readRow);
}

/** The highest number of any entry of any team; entries that come later have higher ones. */
export function newestEntryId(core: Core): number {
  return rows(core.store).newestId.get() ?? 0;
}

/** A row as other rooms see it. */
export function readRow(row: DefectRow): Defect {
  return {
    ...row,
    kind: row.kind as DefectKind,
    open: row.open === 1,
    commits: JSON.parse(row.commits) as string[],
    files: JSON.parse(row.files) as string[],
  };
}
