import type { Core } from "../../core.ts";
import { readSha } from "../../formats/edits.ts";
import { commitNotes } from "../../record/traces/traces.ts";
import { followLine } from "./blame.ts";
import { evidenceRows, type LineEditRow } from "./evidence-rows.ts";
import type { Confidence } from "./judge.ts";
import type { LineQuery, PromptMatch } from "./line-query.ts";
import { notedMatches } from "./noted-line.ts";
import { isAbsolute, isSameFile, nameOf, normalisePath } from "./paths.ts";
import { excerptOf, PROMPT_CHARS, promptAt, promptsOf } from "./prompts.ts";
import { isSameCommit, makersOf } from "./signals.ts";

/** Edits of files of one name that are looked at: the newest. */
const MAX_EDITS = 5_000;

/**
 * The prompts that a line of a file comes from, newest first; see `followLine`. Where the commit's own note says who wrote the line, it
 * is that session's alone, or nobody's. As fresh as `evidenceProjection`.
 */
export async function promptForLine(core: Core, teamId: string, query: LineQuery): Promise<PromptMatch[]> {
  const path = normalisePath(query.path);
  if (path === undefined) return [];
  const followed = followEdits(core, teamId, query, path);
  return (await notedMatches(core, teamId, query, path, followed)) ?? followed;
}

function followEdits(core: Core, teamId: string, query: LineQuery, path: string): PromptMatch[] {
  const sql = evidenceRows(core.store);
  const edits = sql.editsNamed
    .all(teamId, nameOf(path), MAX_EDITS)
    .filter((edit) => isSameFile(path, edit.path) && (query.repoKey === undefined || edit.repoKey === query.repoKey));
  const upTo = query.commit === undefined ? edits : beforeCommit(core, teamId, edits, query.commit);
  // Files of one name may stand in several folders and repositories, each with lines of its own. A path whose repository
  // is unknown is taken for the one that was asked for.
  const files = Map.groupBy(upTo, (edit) => `${edit.repoKey}\n${isAbsolute(edit.path) ? path : edit.path}`);
  const exact = [...files].filter(([key]) => key.endsWith(`\n${path}`)).map(([, ofFile]) => ofFile);
  const meant = exact.length > 0 ? exact : [...files.values()];
  return meant
    .flatMap((ofFile) => followLine(ofFile, query.line))
    .sort((a, b) => (b.edit.at ?? 0) - (a.edit.at ?? 0) || b.edit.id - a.edit.id)
    .map(({ edit, band }) => matchOf(core, edit, meant.length > 1 ? "weak" : band));
}

/**
 * Those edits that are in a commit: said to be its own, or made at or before it. Not those that another commit took after one of this
 * commit's own edits of the file: in the same work tree, that own edit would have gone into the other commit.
 */
function beforeCommit(core: Core, teamId: string, edits: readonly LineEditRow[], commit: string): LineEditRow[] {
  const sha = readSha(commit);
  if (sha === null) return [];
  const instants = makersOf(core, teamId, sha)
    .map(({ at, endedAt }) => at ?? endedAt)
    .filter((at) => at !== null);
  // A commit's note came after it, and sessions go on meanwhile.
  const noted = commitNotes.ofCommit(core, teamId, sha).map(({ createdAt }) => createdAt);
  const until = instants.length === 0 ? undefined : Math.min(Math.max(...instants), ...noted);
  const isOwn = ({ commit }: LineEditRow) => commit !== null && isSameCommit(commit, sha);
  const fileOf = ({ repoKey, path }: LineEditRow) => `${repoKey}\n${path}`;
  // The newest come first.
  const firstOwn = new Map(edits.filter(isOwn).map((edit) => [fileOf(edit), edit.at ?? 0]));
  return edits.filter(
    (edit) =>
      isOwn(edit) ||
      (until !== undefined &&
        edit.at !== null &&
        edit.at <= until &&
        (edit.commit === null || edit.at <= (firstOwn.get(fileOf(edit)) ?? until))),
  );
}

function matchOf(core: Core, edit: LineEditRow, band: Confidence): PromptMatch {
  const window = evidenceRows(core.store).window.get(edit.sessionId);
  return {
    sessionNumber: edit.sessionId,
    sessionId: window?.externalId ?? "",
    spanId: edit.spanId,
    prompt: excerptOf(promptAt(promptsOf(core, edit.sessionId), edit.at)?.text, PROMPT_CHARS),
    commit: edit.commit,
    at: edit.at,
    band,
  };
}
