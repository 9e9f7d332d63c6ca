import type { Core } from "../../core.ts";
import { MAX_ERASED_ROWS } from "../../kit/erase-steps.ts";
import type { StoredNotice } from "./notify.ts";
import { type NoticeRow, rows } from "./rows.ts";

const read = (row: NoticeRow): StoredNotice => ({ ...row, data: JSON.parse(row.data) as StoredNotice["data"] });

/** Notices that are not addressed to any channel yet, oldest first. */
export const newNotices = (core: Core, count: number): StoredNotice[] =>
  rows(core.store).unaddressed.all(count).map(read);

/** Row change: marks a notice as addressed, so that `newNotices` does not give it again. */
export const markAddressed = (core: Core, id: number): boolean => rows(core.store).markAddressed.run(id).changes === 1;

/** Notices by their numbers, oldest first; those that are gone are left out. */
export const findNotices = (core: Core, ids: readonly number[]): StoredNotice[] =>
  rows(core.store).byIds.all(JSON.stringify(ids)).map(read);

/** Whether there is a notice with a key. */
export const isNoted = (core: Core, key: string): boolean => rows(core.store).byKey.get(key) !== undefined;

/**
 * Row change: removes old notices among the thousand that follow a number.
 * @returns the number to go on from; null after the last
 */
export function dropNoticesBefore(core: Core, at: number, after: number): number | null {
  const sql = rows(core.store);
  const last = sql.lastOfSlice.get({ at, after, limit: MAX_ERASED_ROWS }) ?? null;
  if (last !== null) sql.dropBefore.run({ at, after, last });
  return last;
}
