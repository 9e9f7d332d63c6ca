import { structuredPatch } from "diff";

export interface DiffLine {
  readonly kind: "same" | "added" | "removed";
  readonly text: string;
}

/** Changed lines with unchanged lines around them. Line numbers are 1-based. */
export interface Hunk {
  readonly oldStart: number;
  readonly newStart: number;
  readonly lines: readonly DiffLine[];
}

export interface Diff {
  /** Empty when the texts are the same, and when they are too different. */
  readonly hunks: readonly Hunk[];
  /** The texts are too different to show line by line: finding how they differ would take too long. */
  readonly tooDifferent: boolean;
}

/** Bounds on one comparison, whose work grows with the lines times the edits and which nothing interrupts. */
const MAX_EDITS = 2_000;
const MAX_MS = 100;
/** Lines of both texts together; the largest file of prose has a tenth of that. */
const MAX_LINES = 200_000;
const LINE_KINDS = { "+": "added", "-": "removed", " ": "same" } as const;
const MARKS = { added: "+", removed: "-", same: " " } as const;

/** Compares two texts line by line (Myers, 1986). @param context unchanged lines around changed ones, at most */
export function diffLines(old: string, now: string, context = 3): Diff {
  if (countLines(old) + countLines(now) > MAX_LINES) return { hunks: [], tooDifferent: true };
  const patch = structuredPatch("", "", old, now, undefined, undefined, {
    context,
    maxEditLength: MAX_EDITS,
    timeout: MAX_MS,
  });
  if (!patch) return { hunks: [], tooDifferent: true };
  const hunks = patch.hunks.map(({ oldStart, newStart, lines }) => ({
    oldStart,
    newStart,
    // "\ No newline at end of file" is no line of either text.
    lines: lines
      .filter((line) => !line.startsWith("\\"))
      .map((line) => ({ kind: LINE_KINDS[line[0] as keyof typeof LINE_KINDS], text: line.slice(1) })),
  }));
  return { hunks, tooDifferent: false };
}

/** The line that a hunk begins with in the unified format (POSIX diff -u). */
export function hunkHeader({ oldStart, newStart, lines }: Hunk): string {
  const range = (start: number, other: DiffLine["kind"]) => {
    const count = lines.filter(({ kind }) => kind !== other).length;
    // Of no lines, the one before is named.
    return `${count === 0 ? start - 1 : start},${count}`;
  };
  return `@@ -${range(oldStart, "added")} +${range(newStart, "removed")} @@`;
}

/** A hunk in the unified format, line by line. */
export const hunkLines = (hunk: Hunk): string[] => [
  hunkHeader(hunk),
  ...hunk.lines.map(({ kind, text }) => MARKS[kind] + text),
];

/** Lines of a text; counting stops beyond `MAX_LINES`. */
function countLines(text: string): number {
  let lines = 1;
  for (let at = text.indexOf("\n"); at !== -1 && lines <= MAX_LINES; at = text.indexOf("\n", at + 1)) lines++;
  return lines;
}
