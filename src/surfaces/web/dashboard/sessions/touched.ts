import type { Session, Span } from "../../../../record/traces/traces.ts";

/** How a session touched a file. */
export interface Touched {
  edits: number;
  /** The first step that edited it. */
  first: Span | undefined;
  readonly commits: Set<string>;
}

/** Files that the session lists or its steps edited, in the order of their paths. */
export function filesOf({ files, spans }: Pick<Session, "files" | "spans">): ReadonlyMap<string, Touched> {
  const untouched = (): Touched => ({ edits: 0, first: undefined, commits: new Set() });
  const all = new Map<string, Touched>(files.map((path) => [path, untouched()]));
  for (const span of spans)
    for (const { path, commit } of span.edits) {
      const touched = all.getOrInsertComputed(path, untouched);
      touched.edits++;
      touched.first ??= span;
      if (commit !== null) touched.commits.add(commit);
    }
  return new Map([...all].sort(([a], [b]) => (a < b ? -1 : 1)));
}
