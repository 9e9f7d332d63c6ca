/** What the order of a waterfall is decided from. */
export interface Nested {
  readonly id: string;
  readonly parentId: string | null;
  readonly startedAt: number | null;
}

/** A span and how deep it lies; 0 for a root. */
export interface Placed<T> {
  readonly span: T;
  readonly depth: number;
}

/**
 * Puts spans in the order of a waterfall: each below its parent, siblings by start, those without a start last. Agents
 * write the parents, so nothing is assumed of them: a span whose parent is missing is a root, and a cycle is entered at its
 * earliest member, once. Takes time in proportion to n log n and no stack.
 */
export function placeSpans<T extends Nested>(spans: readonly T[]): Placed<T>[] {
  const byStart = [...spans].sort((a, b) => (a.startedAt ?? Infinity) - (b.startedAt ?? Infinity) || 0);
  const ids = new Set(byStart.map(({ id }) => id));
  const isRoot = ({ id, parentId }: T) => parentId === null || parentId === id || !ids.has(parentId);
  const children = Map.groupBy(
    byStart.filter((span) => !isRoot(span)),
    ({ parentId }) => parentId as string,
  );
  const placed: Placed<T>[] = [];
  const seen = new Set<T>();
  const place = (root: T) => {
    const waiting: Placed<T>[] = [{ span: root, depth: 0 }];
    for (let next = waiting.pop(); next; next = waiting.pop()) {
      if (seen.has(next.span)) continue;
      seen.add(next.span);
      placed.push(next);
      const depth = next.depth + 1;
      for (const span of (children.get(next.span.id) ?? []).toReversed()) waiting.push({ span, depth });
    }
  };
  for (const span of byStart) if (isRoot(span)) place(span);
  // What no root leads to hangs on a cycle.
  for (const span of byStart) if (!seen.has(span)) place(span);
  return placed;
}
