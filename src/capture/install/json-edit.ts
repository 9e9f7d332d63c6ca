import type { JsonChild, JsonNode } from "./json-tree.ts";

/**
 * Edits of JSON text that keep every other character, each the reverse of the other: what `insertChild` puts in, `removeChild`
 * takes out again, to the same text. The one exception is a container with nothing between its brackets that is opened over
 * several lines; who needs its text back has to keep it.
 */

/** How a text is laid out. */
export interface Layout {
  readonly newline: string;
  readonly unit: string;
  /** Whether the whole stands on one line. */
  readonly compact: boolean;
}

/** The layout of a text, so that what is added looks like the rest: two spaces a level where nothing says otherwise. */
export function layoutOf(text: string, root: JsonNode): Layout {
  const first = root.children?.[0];
  const unit = first && /\n([ \t]+)$/.exec(text.slice(0, first.start))?.[1];
  const within = text.slice(root.start, root.end);
  return {
    newline: text.includes("\r\n") ? "\r\n" : "\n",
    unit: unit ?? "  ",
    compact: !within.includes("\n") && root.children?.length !== 0,
  };
}

/** A value as text whose further lines are indented by `indent`. */
export function renderValue(value: unknown, layout: Layout, indent: string): string {
  return JSON.stringify(value, null, layout.unit).replaceAll("\n", layout.newline + indent);
}

/** Puts a value behind the last child of a container, laid out like it. @param key the member's name, in an object */
export function insertChild(
  text: string,
  container: JsonNode,
  key: string | undefined,
  value: unknown,
  layout: Layout,
): string {
  const children = container.children ?? [];
  const last = children.at(-1);
  const name = key === undefined ? "" : `${JSON.stringify(key)}: `;
  const rest = text.slice(container.tail, container.end - 1);
  const overLines = last
    ? /\n/.test(text.slice(container.start, children[0]?.start) + text.slice(last.end, container.end))
    : !layout.compact && (!container.comments || rest.includes("\n"));
  if (!overLines) {
    const item = name + JSON.stringify(value);
    const space = last || container.comments ? " " : "";
    return withComma(text, last, container.tail, space + item);
  }
  const base = lineIndent(text, container.start);
  const indent = (last && ownIndent(text, last.start)) ?? base + layout.unit;
  const item = layout.newline + indent + name + renderValue(value, layout, indent);
  if (last || rest.includes("\n")) return withComma(text, last, container.tail, item);
  return `${text.slice(0, container.tail)}${item}${layout.newline}${base}${text.slice(container.end - 1)}`;
}

/** Inserts an item at `at`. The child before it gets a comma; where that has one already, the item gets one. */
function withComma(text: string, last: JsonChild | undefined, at: number, item: string): string {
  if (!last) return text.slice(0, at) + item + text.slice(at);
  if (last.comma !== undefined) return `${text.slice(0, at)}${item},${text.slice(at)}`;
  return `${text.slice(0, last.end)},${text.slice(last.end, at)}${item}${text.slice(at)}`;
}

/** Takes a child out, with the white space before it and the comma that it needed. */
export function removeChild(text: string, container: JsonNode, index: number): string {
  const children = container.children ?? [];
  const child = children[index];
  if (!child) return text;
  let end = child.comma === undefined ? child.end : child.comma + 1;
  // A comment that reaches to the end of its line must not swallow what follows.
  const keepsSpace = child.afterLineComment && !/^[ \t\r]*\n/.test(text.slice(end));
  const start = keepsSpace ? child.start : child.lead;
  if (child.comma !== undefined && child.lead === child.start) end += /^[ \t]*/.exec(text.slice(end))?.[0].length ?? 0;
  const previous = child.comma === undefined ? children[index - 1]?.comma : undefined;
  const before = text.slice(0, start);
  return (previous === undefined ? before : before.slice(0, previous) + before.slice(previous + 1)) + text.slice(end);
}

/** The white space that a position's line begins with. */
const lineIndent = (text: string, at: number) =>
  /^[ \t]*/.exec(text.slice(text.lastIndexOf("\n", at - 1) + 1, at))?.[0] ?? "";

/** The white space that a position's line begins with, where nothing else stands before the position. */
const ownIndent = (text: string, at: number) => /\n([ \t]*)$/.exec(text.slice(0, at))?.[1];
