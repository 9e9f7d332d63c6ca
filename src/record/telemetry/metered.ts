import type { Core } from "../../core.ts";
import { type MeteredEntry, meteredRows } from "./metered-rows.ts";

export type { MeteredEntry };

/**
 * Entries after a number, in the order of arrival, of which those are handed out whose payload names usage or cost.
 * @param most entries looked at
 * @returns `to`, the number of the last one looked at; undefined when none follows
 */
export function meteredEntries(
  core: Core,
  after: number,
  most: number,
): { readonly to: number; readonly entries: readonly MeteredEntry[] } | undefined {
  const sql = meteredRows(core.store);
  const to = sql.end.get(after, most);
  return to === null || to === undefined ? undefined : { to, entries: sql.within.all(after, to) };
}

/** The number of the entry that arrived last; 0 when there is none. */
export const lastEntryId = (core: Core): number => meteredRows(core.store).lastId.get() ?? 0;
