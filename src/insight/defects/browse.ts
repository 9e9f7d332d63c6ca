import type { Core } from "../../core.ts";
import { onWire, WIRE_FINGERPRINT } from "../../formats/errors/fingerprint.ts";
import { splitLines, textBlocks } from "../../kit/markdown-blocks.ts";
import { soughtText } from "../../kit/strings.ts";
import { cooperative } from "../../kit/yield.ts";
import { readBlob } from "../../record/brain/brain.ts";
import { classRange } from "./class-changes.ts";
import type { Defect } from "./entry.ts";
import { readRow } from "./list.ts";
import { pageRows } from "./page-rows.ts";

/** Entries that are looked through in one piece; the rest of their last day is added. */
const AT_ONCE = 4_000;
/** Beyond every date. */
const NEVER = "9999-99";

/**
 * The newest of a team's entries that hold a text in their heading, prevention rule or file's path, in any case; those of one day in the
 * order of their files. Looked for in pieces, from the last day back. As fresh as `entriesProjection`.
 */
export async function newestWith(core: Core, teamId: string, text: string, most: number): Promise<Defect[]> {
  const sql = pageRows(core.store);
  const yieldNow = cooperative(core.clock);
  const found: Defect[] = [];
  for (let before = NEVER; before !== "" && found.length < most; await yieldNow()) {
    const from = sql.daySome.get(teamId, before, AT_ONCE) ?? "";
    const range = { teamId, from, before, ...soughtText(text), count: most - found.length };
    found.push(...sql.within.all(range).map(readRow));
    before = from;
  }
  return found;
}

/** The entries of errors files that say they are open, the newest first. Read in pieces, from the last day back. */
export async function* openEntries(core: Core, teamId: string, repoKey: string | undefined): AsyncGenerator<Defect> {
  const sql = pageRows(core.store);
  const yieldNow = cooperative(core.clock);
  for (let before = NEVER; before !== ""; await yieldNow()) {
    const from = sql.daySome.get(teamId, before, AT_ONCE) ?? "";
    for (const row of sql.openWithin.all({ teamId, repoKey: repoKey ?? null, from, before })) {
      yield readRow(row);
      await yieldNow();
    }
    before = from;
  }
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

/**
 * The entries of a class, of whatever kind, newest first; 1,000 at most, or fewer.
 * @param fingerprint as `onWire` spells it
 */
export function defectsOfClass(
  core: Core,
  teamId: string,
  fingerprint: string,
  { repoKey, most = MAX_OF_A_CLASS }: { readonly repoKey?: string | undefined; readonly most?: number } = {},
): Defect[] {
  if (!WIRE_FINGERPRINT.test(fingerprint)) return [];
  return pageRows(core.store)
    .ofClass.all(teamId, ...classRange(fingerprint), repoKey ?? null, most)
    .map(readRow);
}

/** What all entries of a class come to, of whatever kind and however many. @param fingerprint as `onWire` spells it */
function sums(core: Core, teamId: string, fingerprint: string) {
  const repos = WIRE_FINGERPRINT.test(fingerprint)
    ? pageRows(core.store).reposOfClass.all(teamId, ...classRange(fingerprint))
    : [];
  return {
    repos,
    occurrences: repos.reduce((sum, one) => sum + one.occurrences, 0),
    open: repos.reduce((sum, one) => sum + one.open, 0),
  };
}

/** The days of all entries of a class, in any order; days may come again. */
const days = (core: Core, teamId: string, fingerprint: string): string[] =>
  pageRows(core.store).datesOfClass.all(teamId, ...classRange(fingerprint), "");

/** The entries of a class before and after one of them in the order of `defectsOfClass`, by their numbers. */
function beside(core: Core, teamId: string, { fingerprint, date, repoKey, path, line }: Defect) {
  const [low, high] = classRange(onWire(fingerprint));
  const place = { teamId, low, high, date, repoKey, path, line };
  const { olderOfClass, newerOfClass } = pageRows(core.store);
  return { older: olderOfClass.get(place), newer: newerOfClass.get(place) };
}

/** The entries of a class as a whole. */
export const wholeClass = { sums, days, beside };
