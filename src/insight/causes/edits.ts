import { isObject } from "../../kit/json.ts";
import { readInstant } from "../../record/traces/traces.ts";

/** An edit of a file as a span tells of it; its path is as written. */
export interface ToldEdit {
  readonly path: string;
  /** First and last line that it wrote, 1-based and inclusive, as numbered once it was made. */
  readonly startLine: number | null;
  readonly endLine: number | null;
  /** By how many lines the file grew there (negative: shrank); null when that isn't told. */
  readonly shift: number | null;
  /** Lower-case hexadecimal, 7 to 40 digits. */
  readonly commit: string | null;
  /** Milliseconds since the epoch. */
  readonly at: number | null;
}

const MAX_EDITS = 5_000;
const MAX_DIFF_CHARS = 1024 * 1024;

const count = (value: unknown): number | undefined =>
  Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : undefined;

/** A commit's id as git writes it: 7 to 40 hexadecimal digits, lower case. */
export function readSha(value: unknown): string | null {
  const sha = typeof value === "string" ? value.trim().toLowerCase() : "";
  return /^[0-9a-f]{7,40}$/.test(sha) ? sha : null;
}

/**
 * Reads the `edits` of a span. Each names a `path` and, as far as it tells, `startLine` and `endLine`; by how much lines
 * below it moved is taken from `oldLines` and `newLines` (lines that stood there before and after, as in a unified hunk's
 * header), from `removed` and `added`, or from the text of a unified diff in `diff`, `patch` or `hunk`, which also tells the
 * lines. A wrong type is not understood.
 */
export function readEdits(value: unknown): ToldEdit[] {
  if (!Array.isArray(value)) return [];
  const edits: ToldEdit[] = [];
  for (const one of value) {
    if (edits.length >= MAX_EDITS) break;
    if (isObject(one) && typeof one.path === "string" && one.path !== "") edits.push(...readEdit(one.path, one));
  }
  return edits;
}

function readEdit(path: string, edit: Record<string, unknown>): ToldEdit[] {
  const common = { path, commit: readSha(edit.commit), at: readInstant(edit.at) };
  const diff = [edit.diff, edit.patch, edit.hunk].find((text) => typeof text === "string" && text.includes("@@"));
  const changes = typeof diff === "string" && diff.length <= MAX_DIFF_CHARS ? changesOfDiff(diff) : [];
  if (changes.length > 0) return changes.slice(0, MAX_EDITS).map((change) => ({ ...common, ...change }));
  const startLine = count(edit.startLine);
  const endLine = count(edit.endLine);
  const sound = startLine !== undefined && startLine >= 1 && endLine !== undefined && endLine >= startLine - 1;
  return [
    {
      ...common,
      startLine: sound ? startLine : null,
      endLine: sound ? endLine : null,
      shift: shiftOf(edit),
    },
  ];
}

function shiftOf(edit: Record<string, unknown>): number | null {
  const before = count(edit.oldLines) ?? count(edit.removed);
  const after = count(edit.newLines) ?? count(edit.added);
  return before === undefined || after === undefined ? null : after - before;
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
      // A hunk that leaves nothing stands behind the line it names.
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
