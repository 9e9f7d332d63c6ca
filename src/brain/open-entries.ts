import type { Core } from "../core.ts";
import { sections } from "../kit/markdown.ts";
import { perOwner } from "../kit/memo.ts";
import { type ManifestEntries, rows } from "./rows.ts";

/** What a team's error files record. */
export interface OpenEntries {
  /** Repositories with a brain. */
  readonly repositories: number;
  /** Dated entries of their `errors.md` files. */
  readonly entries: number;
  /** Those of them that say they are open. */
  readonly open: number;
}

type Counted = Pick<OpenEntries, "entries" | "open">;

const ERRORS_FILE = /(?:^|\/)errors\.md$/i;
/** Hourglass, construction, warning or exclamation mark, with the selector that makes a picture of some. */
const OPEN_MARK = /^(?:[⌛⏳🚧⚠❗❕‼]|!)/u;
/** A date, perhaps in square brackets, perhaps after a mark. */
const DATED = /^[^\p{L}\p{N}[]*\[?(\d{4}-\d{2}-\d{2})(?!\d)/u;
/** A line such as `**Status:** open`; the colon stands inside or outside the bold. */
const OPEN_STATUS =
  /^[ \t]*(?:[-*+][ \t]+)?[*_]{0,2}status[*_]{0,2}[ \t]*:[*_]{0,2}[ \t]*[*_`]{0,2}(?:open|unresolved|in[ -]progress|pending)\b/im;

/** Counts the entries of one error file: its level-2 headings that carry a date. */
export function countEntries(markdown: string): Counted {
  const dated = sections(markdown).filter(({ level, heading }) => level === 2 && isDated(heading));
  const open = dated.filter(({ heading, text }) => OPEN_MARK.test(heading) || OPEN_STATUS.test(text));
  return { entries: dated.length, open: open.length };
}

function isDated(heading: string): boolean {
  const date = DATED.exec(heading)?.[1];
  return date !== undefined && !Number.isNaN(Date.parse(date));
}

const MOST_HELD = 1_000;
/** Blobs never change, so neither does what is counted in them. */
const counted = perOwner<object, Map<number, Counted>>(() => new Map());

/** Counts the entries of all error files in the current brains of a team. */
export function countOpenEntries(core: Core, teamId: string): OpenEntries {
  const held = counted(core.store);
  const repositories = rows(core.store).currents.all(teamId);
  let entries = 0;
  let open = 0;
  for (const manifest of repositories)
    for (const [path, blobId] of JSON.parse(manifest.entries) as ManifestEntries) {
      if (!ERRORS_FILE.test(path)) continue;
      let count = held.get(blobId);
      if (!count) {
        count = countEntries((rows(core.store).blobContent.get(blobId) as string | undefined) ?? "");
        if (held.size >= MOST_HELD) held.clear();
        held.set(blobId, count);
      }
      entries += count.entries;
      open += count.open;
    }
  return { repositories: repositories.length, entries, open };
}
