import { promptTitle, understandSession } from "../../formats/session.ts";
import type { SessionSource } from "../../record/traces/traces.ts";
import type { FindsRow } from "./rows.ts";

/** What a session is called, and what it is found by. */

/** Digits of a commit that are kept: more than people copy. */
export const SHA_CHARS = 12;
const MAX_COMMITS = 40;
const MAX_NAME_CHARS = 200;

/** What search everywhere finds a session by. */
export function wordsOf(source: Pick<SessionSource, "document" | "externalId" | "repoKey" | "branch">): FindsRow {
  const { document, externalId, repoKey } = source;
  const branch = (source.branch ?? "").slice(0, MAX_NAME_CHARS).toWellFormed();
  const { prompts, title: own, commits } = understandSession(document);
  const title = promptTitle(prompts[0]) ?? promptTitle({ text: own }) ?? externalId;
  const shas = commits.slice(-MAX_COMMITS).map(({ sha }) => sha.slice(0, SHA_CHARS));
  const names = [title, externalId, branch].map((name) => name.slice(0, MAX_NAME_CHARS));
  // Lines keep a word of one from being found across two.
  const words = [...names, ...shas].filter(Boolean).join("\n").toLowerCase().toWellFormed();
  return { title, repoKey, branch, words };
}
