import { splitLines, type TextBlock, textBlocks } from "../../kit/markdown-blocks.ts";
import { finish, type Slices } from "../../kit/slices.ts";
import { oneLine } from "../../kit/strings.ts";
import type { Entry } from "./entry.ts";
import { fingerprintOf, fingerprintOfNothing } from "./fingerprint.ts";
import { type DatedHeading, readHeading } from "./heading.ts";
import { commitsIn, filesIn } from "./mentions.ts";
import { findRule } from "./rule.ts";
import { saysOpen } from "./status.ts";

/** What a file of entries holds. */
export interface ParsedFile {
  /** In the order of the file. */
  readonly entries: readonly Entry[];
  /** Level-2 headings without a date, and entries beyond the most that one file may have. */
  readonly skipped: number;
  /** Why nothing could be read of it; then it counts as skipped itself. */
  readonly unreadable?: string;
}

/** Entries of one file at most; one of a MiB with a line of text under each heading has as many. */
const MAX_ENTRIES = 5_000;
const MAX_HEADING_CHARS = 1_000;
const MAX_TITLE_CHARS = 500;
const MAX_RULE_CHARS = 4_000;

type Unnumbered = Omit<Entry, "ordinal" | "fingerprint"> & {
  /** The whole text instead, for an entry that has neither rule nor title. */
  readonly fingerprint: Buffer | string;
};

interface Begun extends DatedHeading {
  readonly heading: string;
  readonly line: number;
  readonly blocks: TextBlock[];
}

/** The entries of an errors, security or anti-patterns file: its dated level-2 headings. */
export function parseEntries(markdown: string): readonly Entry[] {
  return parseFile(markdown).entries;
}

/** The entries of a file, and how many level-2 headings are none. */
export const parseFile = (markdown: string): ParsedFile => finish(parseSteps(markdown));

const CONFLICT = /^<{7}(?: |$)/m;

/**
 * A file's lines. Of a merge conflict that is not resolved (git-merge(1), HOW CONFLICTS ARE PRESENTED) only our side is kept; the other
 * lines become blank. With both sides entries would occur twice, and rules would hold markers.
 */
function linesOf(markdown: string): string[] {
  const lines = splitLines(markdown);
  if (!CONFLICT.test(markdown)) return lines;
  let begun: number | undefined;
  let ends: number | undefined;
  let parted = false;
  for (const [i, line] of lines.entries()) {
    if (CONFLICT.test(line)) [begun, ends, parted] = [i, undefined, false];
    else if (begun === undefined) continue;
    else if (line === "=======" || /^\|{7}(?: |$)/.test(line))
      [ends, parted] = [ends ?? i, parted || line === "======="];
    else if (parted && /^>{7}(?: |$)/.test(line)) {
      lines.fill("", begun, begun + 1).fill("", ends, i + 1);
      begun = undefined;
    }
  }
  return lines;
}

/** Parses a file a few KiB a step. */
export function* parseSteps(markdown: string): Slices<ParsedFile> {
  const lines = linesOf(markdown);
  const entries: Unnumbered[] = [];
  let skipped = 0;
  let begun: Begun | undefined;
  const end = (line: number) => {
    if (begun && entries.length < MAX_ENTRIES)
      entries.push(unnumbered(begun, lines.slice(begun.line - 1, line - 1).join("\n")));
    else if (begun) skipped++;
    begun = undefined;
  };
  for (const chunk of textBlocks(lines)) {
    for (const block of chunk) {
      const dated = block.top && block.level === 2 ? readHeading(block.text.slice(0, MAX_HEADING_CHARS)) : undefined;
      if (!endsEntry(block) && !dated) {
        begun?.blocks.push(block);
        continue;
      }
      end(block.line);
      if (dated) begun = { ...dated, heading: oneLine(block.text, MAX_HEADING_CHARS), line: block.line, blocks: [] };
      else if (block.level === 2) skipped++;
    }
    yield;
  }
  end(lines.length + 1);
  return { entries: numbered(entries), skipped };
}

/** An undated heading of level 2 made by a line of dashes is a paragraph with a rule drawn too close under it. */
function endsEntry({ top, level, underlined }: TextBlock): boolean {
  return top && (level === 1 || (level === 2 && !underlined));
}

function unnumbered({ heading, line, date, title, marked, blocks }: Begun, text: string): Unnumbered {
  const rule = findRule(blocks);
  return {
    heading,
    date,
    line,
    title: oneLine(title, MAX_TITLE_CHARS),
    open: marked || saysOpen(blocks),
    fingerprint: fingerprintOf(rule, title) ?? text.trim(),
    rule: rule ? oneLine(rule, MAX_RULE_CHARS) : null,
    commits: commitsIn(text),
    files: filesIn(text),
  };
}

/** Numbers equal headings from the file's end: new entries come first, so those that are there keep their numbers. */
function numbered(entries: readonly Unnumbered[]): Entry[] {
  const seen = new Map<string, number>();
  const next = (text: string) => {
    const number = seen.get(text) ?? 0;
    seen.set(text, number + 1);
    return number;
  };
  return entries
    .toReversed()
    .map(({ fingerprint, ...entry }) => ({
      ...entry,
      ordinal: next(entry.heading),
      fingerprint:
        typeof fingerprint === "string" ? fingerprintOfNothing(fingerprint, next(`\0${fingerprint}`)) : fingerprint,
    }))
    .reverse();
}
