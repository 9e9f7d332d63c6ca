import { readAttributeUsage, readUsage } from "../../formats/usage.ts";
import { readId } from "../../formats/values.ts";
import type { Span } from "./happening.ts";

/**
 * A call that another span tells of as well, as a client's library does beside what instruments it. It has the same id of the response and
 * the same tokens, and lies at the same time: agents give calls that follow each other the same id, too.
 * @param calls of a session, by that id; the span is put there
 */
export function sameCall(calls: Map<string, Span>, span: Span): Span | undefined {
  const id = span.kind === "llm" ? readId(span.attributes["gen_ai.response.id"]) : undefined;
  if (id === undefined) return undefined;
  const other = calls.get(id);
  if (other && other.id !== span.id && isAtOnce(other, span) && usedBy(other) === usedBy(span)) return other;
  calls.set(id, span);
  return undefined;
}

const isAtOnce = (one: Span, other: Span): boolean =>
  [one.startedAt, one.endedAt, other.startedAt, other.endedAt].every((at) => at !== undefined) &&
  String(one.startedAt) <= String(other.endedAt) &&
  String(other.startedAt) <= String(one.endedAt);

function usedBy({ usage, attributes }: Span): string {
  const { context, output } = readUsage(usage) ?? readAttributeUsage(attributes) ?? { context: 0, output: null };
  return `${context} ${output ?? 0}`;
}

/** The place in the tree of a call that two spans tell of: it has the id of the first, and the parent of the outer one. */
export const placeOfBoth = (before: Span, { id, parentId, startedAt, endedAt }: Span): Partial<Span> => ({
  id: before.id,
  parentId: before.parentId === id || String(startedAt) < String(before.startedAt) ? parentId : before.parentId,
  startedAt: [before.startedAt, startedAt].toSorted()[0],
  endedAt: [before.endedAt, endedAt].toSorted()[1],
});
