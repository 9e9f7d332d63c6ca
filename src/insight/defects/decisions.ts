import { type Core, slot } from "../../core.ts";
import { isFromPack, kindOf } from "../../formats/brain-kinds.ts";
import { readHeading } from "../../formats/errors/heading.ts";
import { plainText, splitLines, textBlocks } from "../../kit/markdown-blocks.ts";
import { oneLine } from "../../kit/strings.ts";
import { cooperative } from "../../kit/yield.ts";
import { currentBrains, readBlob } from "../../record/brain/brain.ts";

/** A decision as its heading says it. */
export interface Decision {
  /** YYYY-MM-DD, null where the heading has none. */
  readonly date: string | null;
  readonly title: string;
  readonly repoKey: string;
  readonly path: string;
  readonly line: number;
}

type FileDecision = Pick<Decision, "date" | "title" | "line">;

/** Files looked at, at most: of records that are a file each the highest numbers are the newest. */
const MAX_FILES = 20;
/** Headings of one file that may be shown. */
const MAX_OF_A_FILE = 20;
const MAX_TITLE_CHARS = 500;
const MAX_READ = 500;
/** Content never changes, so neither does what was read of it. */
const read = slot((): Map<number, readonly FileDecision[]> => new Map());

/**
 * The newest decisions of a team's current brains: those with a date in the order of their dates, then the others, of
 * numbered records (`docs/adr/0007-….md`) the highest numbers first, of one file in its own order.
 */
export async function newestDecisions(
  core: Core,
  teamId: string,
  repoKey: string | undefined,
  most: number,
): Promise<Decision[]> {
  const files = currentBrains(core, teamId)
    .filter((brain) => repoKey === undefined || brain.repoKey === repoKey)
    .flatMap((brain) => brain.files.map(([path, blobId]) => ({ repoKey: brain.repoKey, path, blobId })))
    .filter(({ path }) => kindOf(path) === "decision" && !isFromPack(path) && !NO_DECISIONS.test(path))
    .sort((a, b) => compareNames(nameOf(b.path), nameOf(a.path)))
    .slice(0, MAX_FILES);
  const all: Decision[] = [];
  for (const { blobId, ...place } of files)
    for (const decision of await decisionsIn(core, blobId)) all.push({ ...decision, ...place });
  // Decisions without a date come last, and otherwise all stay in their order.
  return all.toSorted((a, b) => compareDates(b.date, a.date)).slice(0, most);
}

function compareDates(a: string | null, b: string | null): number {
  if (a === b) return 0;
  return (a ?? "") < (b ?? "") ? -1 : 1;
}

const NO_DECISIONS = /(?:^|\/)(?:readme|index|template)\.\w+$/i;
const nameOf = (path: string) => path.slice(path.lastIndexOf("/") + 1);
/** Compares names by their numbers. Names without a number come first, such as that of a file with many decisions. */
const compareNames = (a: string, b: string) => numberOf(a) - numberOf(b) || (a < b ? -1 : 1);
const numberOf = (name: string) => Number(/\d{1,12}/.exec(name)?.[0] ?? Number.MAX_SAFE_INTEGER);

async function decisionsIn(core: Core, blobId: number): Promise<readonly FileDecision[]> {
  const cache = read(core);
  const cached = cache.get(blobId);
  if (cached) return cached;
  const markdown = readBlob(core, blobId);
  const decisions = await readDecisions(markdown, cooperative(core.clock)).catch((error: unknown) => {
    core.log.error("decisions_unreadable", { blob: blobId, cause: String(error) });
    return [];
  });
  if (cache.size >= MAX_READ) cache.clear();
  cache.set(blobId, decisions);
  return decisions;
}

/**
 * What a file decides: its dated level-2 headings; without any, the title of a file that is one record, else its level-2
 * headings.
 */
async function readDecisions(
  markdown: string,
  yieldNow: () => Promise<void> | undefined,
): Promise<readonly FileDecision[]> {
  const dated: FileDecision[] = [];
  const others: FileDecision[] = [];
  let title: FileDecision | undefined;
  for (const chunk of textBlocks(splitLines(markdown))) {
    for (const { level, top, text, line } of chunk) {
      if (!top || (level !== 1 && level !== 2)) continue;
      const known = level === 2 ? readHeading(text.slice(0, 2 * MAX_TITLE_CHARS)) : undefined;
      if (known?.title) dated.push({ date: known.date, title: oneLine(known.title, MAX_TITLE_CHARS), line });
      const heading = oneLine(plainText(text.slice(0, 2 * MAX_TITLE_CHARS)), MAX_TITLE_CHARS);
      if (known || heading === "") continue;
      if (level === 1) title ??= { date: null, title: heading, line };
      else if (others.length < MAX_OF_A_FILE) others.push({ date: null, title: heading, line });
    }
    if (dated.length >= MAX_OF_A_FILE) break;
    await yieldNow();
  }
  if (dated.length > 0) return dated.slice(0, MAX_OF_A_FILE);
  return title && (others.length === 0 || others.some((part) => RECORD_PARTS.test(part.title))) ? [title] : others;
}

/** Headings that the parts of one decision record have, in the usual templates. */
const RECORD_PARTS =
  /^(?:\d+\.\s*)?(?:status|context|decision|consequences|rationale|alternatives|considered options)\b/i;
