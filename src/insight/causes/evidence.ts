import { type LineEdit, readLineEdits, readSha } from "../../formats/edits.ts";
import { SESSION_MEMBERS, understandSession } from "../../formats/session.ts";
import { isObject } from "../../kit/json.ts";
import { compareText } from "../../kit/strings.ts";
import type { SessionSource, sourceSpans } from "../../record/traces/traces.ts";
import { nameOf, normalisePath } from "./paths.ts";

/** A file's edit, its path as the repository knows it. */
export interface Edit extends LineEdit {
  readonly spanId: string;
}

export interface MadeCommit {
  readonly sha: string;
  readonly at: number | null;
}

/** What a session tells of its part in a defect. Instants are milliseconds since the epoch. */
export interface Evidence {
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  readonly commits: readonly MadeCommit[];
  readonly files: readonly string[];
  /** Oldest first; those of one span from the file's top down. */
  readonly edits: readonly Edit[];
}

export const MAX_FILES = 5_000;
export const MAX_COMMITS = 1_000;

/** Members of a session that name the folder its repository stands in. */
const ROOTS = ["cwd", "repositoryRoot", "repoRoot", "gitRoot", "projectRoot", "workspace", "worktree", "root"];

/** The members of a session's document that evidence is made of. */
export const EVIDENCE_MEMBERS: readonly string[] = [...SESSION_MEMBERS, ...ROOTS, "attributes"];

/** The folders whose files a session knows by their whole path, the longest first. */
export function rootsOf(document: Record<string, unknown>): string[] {
  const attributes = isObject(document.attributes) ? document.attributes : {};
  return [document, attributes]
    .flatMap((where) => ROOTS.map((name) => where[name]))
    .filter((value): value is string => typeof value === "string" && value !== "")
    .map((value) => normalisePath(value))
    .filter((value): value is string => value !== undefined)
    .sort((a, b) => b.length - a.length);
}

/** As the room of the sessions gives them out. */
type Spans = ReturnType<typeof sourceSpans.withEdits> extends AsyncGenerator<infer Spans> ? Spans : never;

/** The edits of some spans, as they were told. */
export function editsOf(spans: Spans, roots: readonly string[]): Edit[] {
  return spans.flatMap(({ spanId, startedAt, endedAt, document }) =>
    readLineEdits(document.edits).flatMap((edit) => {
      const path = normalisePath(edit.path, roots);
      if (path === undefined || nameOf(path) === "..") return [];
      return [{ ...edit, path, spanId, at: edit.at ?? endedAt ?? startedAt }];
    }),
  );
}

/**
 * Puts together what a session tells.
 * @param times of its spans
 * @param noted commits that notes say it wrote lines of
 */
export function evidenceOf(
  source: SessionSource,
  edits: readonly Edit[],
  times: { readonly first: number | null; readonly last: number | null },
  noted: readonly { readonly sha: string }[],
): Evidence {
  const { prompts, files, commits } = understandSession(source.document);
  const roots = rootsOf(source.document);
  const made = commitsOf(commits, noted);
  const prompted = prompts.map(({ at }) => at);
  const committed = Array.from(made.values(), ({ at }) => at);
  const instants = [...prompted, ...committed, times.first, times.last].filter((at) => at !== null);
  const startedAt = source.startedAt ?? earliest(source.endedAt === null ? instants : [...instants, source.endedAt]);
  const endedAt = source.endedAt ?? latest(startedAt === null ? instants : [...instants, startedAt]);
  const paths = new Set<string>();
  for (const path of [...files.map((file) => normalisePath(file, roots)), ...edits.map((edit) => edit.path)])
    if (path !== undefined && paths.size < MAX_FILES) paths.add(path);
  const swapped = startedAt !== null && endedAt !== null && endedAt < startedAt;
  return {
    startedAt: swapped ? endedAt : startedAt,
    endedAt: swapped ? startedAt : endedAt,
    commits: [...made.values()],
    files: [...paths].sort(),
    edits: inOrder(edits.map((edit) => ({ ...edit, at: edit.at ?? endedAt }))),
  };
}

/** @param noted when they were made is not in a note */
function commitsOf(
  named: readonly MadeCommit[],
  noted: readonly { readonly sha: string }[],
): ReadonlyMap<string, MadeCommit> {
  const made = new Map<string, MadeCommit>();
  for (const { sha: written, at } of [...named, ...noted.map(({ sha }) => ({ sha, at: null }))]) {
    const sha = readSha(written);
    const known = sha === null ? undefined : made.get(sha);
    if (sha !== null && made.size < MAX_COMMITS) made.set(sha, { sha, at: at ?? known?.at ?? null });
  }
  return made;
}

/** By time, then span, then file; within those from the file's top down, as its lines are numbered after all of them. */
function inOrder(edits: readonly Edit[]): Edit[] {
  const spans = new Map<string, number>();
  for (const { spanId } of edits) if (!spans.has(spanId)) spans.set(spanId, spans.size);
  return edits.toSorted(
    (a, b) =>
      (a.at ?? 0) - (b.at ?? 0) ||
      (spans.get(a.spanId) as number) - (spans.get(b.spanId) as number) ||
      compareText(a.path, b.path) ||
      (a.startLine ?? 0) - (b.startLine ?? 0),
  );
}

const earliest = (instants: readonly number[]) =>
  instants.length === 0 ? null : instants.reduce((a, b) => Math.min(a, b));
const latest = (instants: readonly number[]) =>
  instants.length === 0 ? null : instants.reduce((a, b) => Math.max(a, b));
