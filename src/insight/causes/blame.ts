import type { Confidence } from "./judge.ts";

/** Pure: which edits a line of a file comes from. */

export interface LineEdit {
  /** Line numbers after the edit; null when it told none. With `endLine` below `startLine` lines were only removed. */
  readonly startLine: number | null;
  readonly endLine: number | null;
  /** By how many lines the file grew there; null when that isn't told. */
  readonly shift: number | null;
}

export interface LineMatch<Edit> {
  readonly edit: Edit;
  readonly band: Confidence;
}

/** Matches of one answer. */
const MAX_MATCHES = 10;
/** Edits named where none covers the line. */
const MAX_GUESSES = 5;

/**
 * Follows a line back through the edits of its file. A later edit above it moved it by as many lines as the file grew there.
 *
 * The newest edit that covers it is strong when every later one told what it moved; probable when some did not but all of
 * those lie below it; weak when one lies above. Edits that the newest one wrote over are weak. Where none covers the line, those
 * that told no lines are weak, else the newest few: people's own edits between move lines too.
 * @param edits newest first; those of one span from the file's end up, as its lines are numbered after all of them
 */
export function followLine<Edit extends LineEdit>(edits: readonly Edit[], line: number): LineMatch<Edit>[] {
  const matches: LineMatch<Edit>[] = [];
  let at = line;
  let band: Confidence = "strong";
  const lessSure = (than: Confidence) => {
    if (band !== "weak") band = than;
  };
  for (const edit of edits) {
    const { startLine, endLine, shift } = edit;
    if (startLine === null || endLine === null) {
      lessSure("weak");
      continue;
    }
    if (startLine > at) {
      if (shift === null) lessSure("probable");
    } else if (endLine < at) {
      if (shift === null) lessSure("weak");
      else at = Math.max(at - shift, startLine);
    } else {
      matches.push({ edit, band });
      const before = shift === null ? undefined : endLine - startLine + 1 - shift;
      // Nothing stood there before: the line is no older.
      if (before === 0 || matches.length >= MAX_MATCHES) return matches;
      at = Math.min(at, startLine + Math.max((before ?? at) - 1, 0));
      band = "weak";
    }
  }
  if (matches.length > 0) return matches;
  const untold = edits.filter((edit) => edit.startLine === null);
  return (untold.length > 0 ? untold : edits).slice(0, MAX_GUESSES).map((edit) => ({ edit, band: "weak" }));
}
