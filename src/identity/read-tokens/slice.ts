import { densestAt } from "../../kit/strings.ts";

/** Long enough to hold an entry with its cause and its rule; most sections are shorter and come whole. */
export const MAX_SLICE_CHARS = 1_200;

export interface Slice {
  /** Markdown with its line breaks; an ellipsis stands where more of the section came before or comes after. */
  readonly text: string;
  /** Lines of the section before the slice. */
  readonly linesBefore: number;
}

/**
 * What is quoted of a section: all of it, or else the lines around where most of the words found stand together. A line that
 * is itself too long is cut.
 * @param found lower-case words, as the index matched them
 */
export function sliceOf(section: string, found: readonly string[]): Slice {
  if (section.length <= MAX_SLICE_CHARS) return { text: section.trimEnd(), linesBefore: 0 };
  const at = densestAt(section, found, (MAX_SLICE_CHARS * 2) / 3);
  let from = Math.max(0, Math.min(at - MAX_SLICE_CHARS / 6, section.length - MAX_SLICE_CHARS));
  const lineStart = from === 0 ? -1 : section.indexOf("\n", from - 1);
  if (lineStart !== -1 && lineStart < at) from = lineStart + 1;
  let to = Math.min(section.length, from + MAX_SLICE_CHARS);
  const lineEnd = section.lastIndexOf("\n", to);
  if (to < section.length && lineEnd > Math.max(at, from + MAX_SLICE_CHARS / 2)) to = lineEnd;
  const text = section.slice(from, to).toWellFormed().trimEnd();
  return {
    text: `${from > 0 ? "…" : ""}${text}${to < section.length ? "…" : ""}`,
    linesBefore: section.slice(0, from).split("\n").length - 1,
  };
}
