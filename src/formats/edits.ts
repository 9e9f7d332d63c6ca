import { asObject, type Fields, readCount, readInstant, readText } from "./values.ts";

/** An edit as a span writes it. */
export interface Edit {
  /** As written. */
  readonly path: string;
  readonly startLine: number | null;
  readonly endLine: number | null;
  readonly commit: string | null;
}

/** @returns undefined for what names no file */
export function readEdit(value: unknown): Edit | undefined {
  const edit = asObject(value);
  const path = readText(edit.path);
  if (path === undefined) return undefined;
  const { startLine, endLine, commit } = edit;
  return { path, startLine: readCount(startLine), endLine: readCount(endLine), commit: readText(commit) ?? null };
}

/** Lines of a file that an edit wrote, and how it moved those below them. */
export interface LineEdit extends Edit {
  /** First and last line that it wrote, 1-based and inclusive, as numbered once it was made. */
  readonly startLine: number | null;
  readonly endLine: number | null;
  /** By how many lines the file grew there (negative: shrank); null when that isn't told. */
  readonly shift: number | null;
  /** Lower-case hexadecimal, 7 to 64 digits. */
  readonly commit: string | null;
  /** Milliseconds since the epoch. */
  readonly at: number | null;
}

const MAX_EDITS = 5_000;
const MAX_DIFF_CHARS = 1024 * 1024;

/** A commit's id as git writes it: 7 to 40 hexadecimal digits, 64 in a repository of SHA-256, lower case. */
export function readSha(value: unknown): string | null {
  const sha = typeof value === "string" ? value.trim().toLowerCase() : "";
  return /^[0-9a-f]{7,64}$/.test(sha) ? sha : null;
}

/**
 * Reads the `edits` of a span. Each names a `path` and, if known, `startLine` and `endLine`. How far the lines below moved is taken from
 * `oldLines` and `newLines` (lines that stood there before and after, as in a unified hunk's header), from `removed` and `added`, or from
 * the text of a unified diff in `diff`, `patch` or `hunk`, which also gives the lines. A wrong type is not understood.
 */
export function readLineEdits(value: unknown): LineEdit[] {
  if (!Array.isArray(value)) return [];
  const edits: LineEdit[] = [];
  for (const element of value) {
    if (edits.length >= MAX_EDITS) break;
    edits.push(...lineEditsOf(asObject(element)));
  }
  return edits;
}

function lineEditsOf(fields: Fields): LineEdit[] {
  const edit = readEdit(fields);
  if (!edit) return [];
  const common = { path: edit.path, commit: readSha(edit.commit), at: readInstant(fields.at) };
  const diff = [fields.diff, fields.patch, fields.hunk].find((text) => typeof text === "string" && text.includes("@@"));
  const changes = typeof diff === "string" && diff.length <= MAX_DIFF_CHARS ? changesOfDiff(diff) : [];
  if (changes.length > 0) return changes.slice(0, MAX_EDITS).map((change) => ({ ...common, ...change }));
  const { startLine, endLine } = edit;
  const sound = startLine !== null && startLine >= 1 && endLine !== null && endLine >= startLine - 1;
  const lines = sound ? { startLine, endLine } : { startLine: null, endLine: null };
  return [{ ...common, ...lines, shift: shiftOf(fields) }];
}

function shiftOf(fields: Fields): number | null {
  const before = readCount(fields.oldLines) ?? readCount(fields.removed);
  const after = readCount(fields.newLines) ?? readCount(fields.added);
  return before === null || after === null ? null : after - before;
}

interface Change {
  readonly startLine: number;
  /** One less than the start where lines were only removed. */
  readonly endLine: number;
  readonly shift: number;
}

/** The runs of changed lines in a unified diff (POSIX `diff -u`), numbered as the file stands after all of it. */
export function changesOfDiff(diff: string): Change[] {
  const changes: Change[] = [];
  let line = 0;
  let begun: { start: number; added: number; removed: number } | undefined;
  const end = () => {
    if (begun)
      changes.push({
        startLine: begun.start,
        endLine: begun.start + begun.added - 1,
        shift: begun.added - begun.removed,
      });
    begun = undefined;
  };
  let inHunk = false;
  for (const text of diff.split("\n")) {
    const header = /^@@ -\d+(?:,\d+)? \+(\d+)(?:,(\d+))? @@/.exec(text);
    if (header) {
      end();
      inHunk = true;
      // The header of a hunk without new lines names the line before it.
      line = Number(header[1]) + (header[2] === "0" ? 1 : 0);
    } else if (!inHunk) continue;
    else if (text.startsWith("+")) {
      begun ??= { start: line, added: 0, removed: 0 };
      begun.added++;
      line++;
    } else if (text.startsWith("-")) {
      begun ??= { start: line, added: 0, removed: 0 };
      begun.removed++;
    } else if (text.startsWith(" ") || text === "") {
      end();
      line++;
    } else if (!text.startsWith("\\")) {
      end();
      inHunk = false;
    }
  }
  end();
  return changes;
}
