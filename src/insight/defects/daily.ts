import type { Core } from "../../core.ts";
import type { DefectKind } from "../../formats/brain-kinds.ts";
import { inHashSlices } from "../../kit/hash-slices.ts";
import { dailyRows, type ErrorDay } from "./daily-rows.ts";

/**
 * What files of a kind, errors files where none is named, record of each day in a span that has entries, the oldest first; as fresh as
 * `entriesProjection`.
 * @param from the first day, YYYY-MM-DD
 * @param to the last one, included
 */
export async function errorDays(
  core: Core,
  teamId: string,
  from: string,
  to: string,
  { kind = "error", repoKey }: { readonly kind?: DefectKind; readonly repoKey?: string | undefined } = {},
): Promise<ErrorDay[]> {
  const found = await inHashSlices(core.clock, (slice) =>
    dailyRows(core.store).days.all({ teamId, kind, repoKey: repoKey ?? null, from, to, ...slice }),
  );
  const days = new Map<string, ErrorDay>();
  for (const { date, entries, again } of found) {
    const before = days.get(date);
    days.set(date, { date, entries: (before?.entries ?? 0) + entries, again: (before?.again ?? 0) + again });
  }
  return [...days.values()].sort((a, b) => (a.date < b.date ? -1 : 1));
}
