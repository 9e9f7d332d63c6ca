import type { Core } from "../../core.ts";
import { type Author, lineAuthors } from "../../formats/authorship.ts";
import { readSha } from "../../formats/edits.ts";
import { cooperative } from "../../kit/yield.ts";
import { commitNotes } from "../../record/traces/traces.ts";
import { evidenceRows, type WindowRow } from "./evidence-rows.ts";
import type { LineQuery, PromptMatch } from "./line-query.ts";
import { isSameFile, nameOf, normalisePath } from "./paths.ts";
import { excerptOf, PROMPT_CHARS, promptAt, promptsOf } from "./prompts.ts";

/** A line of a commit, and who its note says wrote it. */
interface Noted {
  readonly commit: string;
  /** When the note came first, milliseconds since the epoch. */
  readonly createdAt: number;
  /** Undefined for a person. */
  readonly author: Author | undefined;
  readonly trace: string;
}

/**
 * The prompts of the sessions that the commit's note says wrote a line.
 * @param path normalised
 * @param followed the edits that the line comes from, as sessions tell
 * @returns none where a person wrote it; undefined where no note tells
 */
export async function notedMatches(
  core: Core,
  teamId: string,
  query: LineQuery,
  path: string,
  followed: readonly PromptMatch[],
): Promise<PromptMatch[] | undefined> {
  const sha = readSha(query.commit);
  if (sha === null) return undefined;
  const noted = await notedLine(core, teamId, sha, path, query.line);
  if (noted.length === 0) return undefined;
  const band = noted.length > 1 ? "weak" : "strong";
  return noted.flatMap((line) => {
    const match = matchOf(core, teamId, query.repoKey, line, followed);
    return match ? [{ ...match, band }] : [];
  });
}

/** Files of one name may stand in several folders: that of the whole path is meant where there is one. */
async function notedLine(core: Core, teamId: string, sha: string, path: string, line: number): Promise<Noted[]> {
  const yieldNow = cooperative(core.clock);
  const name = nameOf(path);
  const isMeant = (written: string) => {
    const known = written.endsWith(name) ? normalisePath(written) : undefined;
    return known !== undefined && isSameFile(path, known);
  };
  const noted: Noted[] = [];
  for (const { commit, createdAt } of commitNotes.ofCommit(core, teamId, sha)) {
    await yieldNow();
    const text = commitNotes.contentOf(core, teamId, commit) ?? "";
    const found = await lineAuthors(text, isMeant, line, yieldNow);
    const exact = found.filter((one) => normalisePath(one.path) === path);
    for (const { author, trace } of exact.length > 0 ? exact : found) noted.push({ commit, createdAt, author, trace });
  }
  return noted;
}

/** @returns undefined for a person's line, and for a session of another repository than was asked for */
function matchOf(
  core: Core,
  teamId: string,
  repoKey: string | undefined,
  { commit, createdAt, author, trace }: Noted,
  followed: readonly PromptMatch[],
): Omit<PromptMatch, "band"> | undefined {
  if (!author) return undefined;
  const named = evidenceRows(core.store).windowsNamed.all(teamId, author.session);
  const windows = named.filter((one) => repoKey === undefined || one.repoKey === repoKey || one.repoKey === "");
  if (named.length > 0 && windows.length === 0) return undefined;
  // Which of a session's prompts it was, its own edits tell best: the last before the commit often says no more than to commit.
  const edit = followed.find(({ sessionNumber }) => windows.some((window) => window.sessionId === sessionNumber));
  if (edit) return { ...edit, commit };
  const prompted = windows.map((window) => ({ window, prompts: promptsOf(core, window.sessionId) }));
  const { window, prompts } = prompted.find((one) => one.prompts.length > 0) ?? prompted[0] ?? { prompts: [] };
  const at = (window && madeAt(core, window, commit)) ?? createdAt;
  return {
    sessionNumber: window?.sessionId ?? null,
    sessionId: author.session,
    spanId: trace,
    prompt: excerptOf(promptAt(prompts, at)?.text ?? author.prompt, PROMPT_CHARS),
    commit,
    at,
  };
}

/** When a session says that it made a commit. */
const madeAt = (core: Core, { sessionId }: WindowRow, commit: string): number | null =>
  evidenceRows(core.store)
    .commits.all(sessionId)
    .find(({ sha }) => commit.startsWith(sha))?.at ?? null;
