import type { Core } from "../../core.ts";
import { splitLines, textBlocks } from "../../kit/markdown-blocks.ts";
import { keysetPage, type Page } from "../../kit/page.ts";
import { soughtText } from "../../kit/strings.ts";
import { readBlob } from "../../record/brain/brain.ts";
import type { Defect } from "./entry.ts";
import { readRow } from "./list.ts";
import { type PageRange, pageRows } from "./page-rows.ts";

/** Which entries a page shows; absent members do not narrow. */
export interface EntryFilter {
  readonly repoKey?: string | undefined;
  readonly kind?: string | undefined;
  readonly open?: boolean | undefined;
  /** Stands in the heading, the prevention rule or the file's path, in any case. */
  readonly text?: string | undefined;
}

/**
 * A page of a team's entries, newest first, those of one day in the order of their files. As fresh as `entriesProjection`.
 * @param limit 1 to 200, 50 by default
 */
export function pageOfDefects(
  core: Core,
  teamId: string,
  filter: EntryFilter & { readonly cursor?: string | undefined; readonly limit?: number | undefined } = {},
): Page<Defect> {
  const { repoKey = null, kind = null, open, text = "", cursor, limit } = filter;
  const filters = { teamId, repoKey, kind, ...soughtText(text), open: open === undefined ? null : asBit(open) };
  return keysetPage({
    cursor,
    limit,
    parts: 2,
    keyOf: ({ date, id }) => [Number(date.replaceAll("-", "")), id],
    read: (towards, key, count) => {
      const [day = null, id = null] = key ?? [];
      // Where the entry stands now that the page begins beyond; its whole day again when it is gone.
      const at = id === null ? undefined : pageRows(core.store).byId.get(id, teamId);
      const place = { atRepo: at?.repoKey ?? "", atPath: at?.path ?? "", atLine: at?.line ?? -1 };
      const date = at?.date ?? (day === null ? null : dateOf(day));
      const range: PageRange = { ...filters, date, ...place, count };
      return pageRows(core.store)[towards].all(range).map(readRow);
    },
  });
}

const asBit = (value: boolean): 0 | 1 => (value ? 1 : 0);

/** A date of the number that its digits make. */
function dateOf(day: number): string {
  const digits = String(day).padStart(8, "0");
  return `${digits.slice(0, -4)}-${digits.slice(-4, -2)}-${digits.slice(-2)}`;
}

/** An entry by its number. @returns undefined when the team's current brains have no such entry */
export function findDefect(core: Core, teamId: string, id: number): Defect | undefined {
  const row = Number.isSafeInteger(id) ? pageRows(core.store).byId.get(id, teamId) : undefined;
  return row && readRow(row);
}

/**
 * What stands under an entry's heading, markdown as it was written.
 * @returns undefined when the file is not there any more
 */
export function entryText(core: Core, teamId: string, { repoKey, path, line }: Defect): string | undefined {
  const sql = pageRows(core.store);
  const blobId = sql.blobOf.get(teamId, repoKey, path);
  if (blobId === undefined) return undefined;
  const next = sql.nextLine.get(teamId, repoKey, path, line) ?? null;
  const lines = splitLines(readBlob(core, blobId)).slice(line - 1, next === null ? undefined : next - 1);
  let begin = 0;
  for (const chunk of textBlocks(lines))
    for (const { top, level, underlined, text, line: at } of chunk) {
      // The entry's own heading comes first.
      if (begin === 0) begin = at - 1 + text.split("\n").length + (underlined ? 1 : 0);
      else if (top && (level === 1 || (level === 2 && !underlined))) return lines.slice(begin, at - 1).join("\n");
    }
  return lines.slice(begin).join("\n");
}

const MAX_OF_A_CLASS = 1_000;
const HIGHEST = Buffer.alloc(32, 0xff);

/**
 * The entries of a class, of whatever kind, newest first; 1,000 at most.
 * @param fingerprint as `onWire` spells it
 */
export function defectsOfClass(core: Core, teamId: string, fingerprint: string, repoKey?: string): Defect[] {
  if (!/^[0-9a-f]{8}$/.test(fingerprint)) return [];
  const low = Buffer.from(fingerprint, "hex");
  const high = Buffer.concat([low, HIGHEST]);
  return pageRows(core.store)
    .ofClass.all(teamId, low, high, repoKey ?? null, MAX_OF_A_CLASS)
    .map(readRow);
}
