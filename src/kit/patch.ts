import type { DiffLine, Hunk } from "./diff.ts";

/** What a patch changes in one file. */
export interface FilePatch {
  /** As the patch names it; null where it does not. */
  readonly path: string | null;
  readonly hunks: readonly Hunk[];
  /** Whether the patch gives line numbers; otherwise lines are counted from 1. */
  readonly numbered: boolean;
}

/** Lines of one patch at most: nobody reads more. */
const MAX_LINES = 5_000;

/** Behind a name `diff` writes a tab and a time, and git a tab where the name has spaces. */
const FILE = /^(?:\*\*\* (?:Update|Add|Delete) File: |\+\+\+ (?:b\/)?)([^\t]+)/;
const HEADER = /^@@(?: -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@)?/;
const MARKS: Readonly<Record<string, DiffLine["kind"]>> = { "+": "added", "-": "removed", " ": "same" };

interface Open {
  path: string | null;
  hunks: { oldStart: number; newStart: number; lines: DiffLine[] }[];
  numbered: boolean;
}

/**
 * Reads a patch: POSIX `diff -u`, also without its file names, and Codex's format (`*** Begin Patch`), which has no line numbers. Other
 * text is passed over.
 */
export function readPatch(text: string): FilePatch[] {
  const files: Open[] = [];
  const file = (path: string | null): Open => {
    const last = files.at(-1);
    if (path === null && last) return last;
    if (last && last.hunks.length === 0) files.pop();
    const begun: Open = { path, hunks: [], numbered: false };
    files.push(begun);
    return begun;
  };
  let hunk: Open["hunks"][number] | undefined;
  const lines = text.split(/\r?\n/, MAX_LINES);
  /** Whether the two names of a file begin here: either line alone is one of the file, such as a comment of SQL. */
  const beginsFile = (i: number) => /^--- /.test(lines[i] ?? "") && /^\+\+\+ /.test(lines[i + 1] ?? "");
  for (const [i, line] of lines.entries()) {
    const named = line.startsWith("+") && !beginsFile(i - 1) ? null : FILE.exec(line);
    const header = HEADER.exec(line);
    const kind = MARKS[line[0] ?? " "];
    if (named) {
      file(named[1] as string);
      hunk = undefined;
    } else if (header) {
      const of = file(null);
      of.numbered = header[1] !== undefined;
      hunk = { oldStart: Number(header[1] ?? 1), newStart: Number(header[2] ?? 1), lines: [] };
      of.hunks.push(hunk);
    } else if (kind && !beginsFile(i) && files.length > 0) {
      if (!hunk) {
        hunk = { oldStart: 1, newStart: 1, lines: [] };
        file(null).hunks.push(hunk);
      }
      hunk.lines.push({ kind, text: line.slice(1) });
    }
  }
  return files
    .map(({ hunks, ...rest }) => ({ ...rest, hunks: hunks.filter(({ lines }) => lines.length > 0) }))
    .filter(({ hunks }) => hunks.length > 0);
}
