import type { TestInstance } from "./instance.ts";

export const UPLOAD = "/adapters/git-ai/worker/notes/upload";
export const NOTES = "/adapters/git-ai/worker/notes/";

/** A commit's id, of one hexadecimal digit. */
export const sha = (digit: string): string => digit.repeat(40);

interface NoteParts {
  /** Lines by attestation keys, by files. */
  readonly files?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** Agents' ids for their sessions, by keys. */
  readonly sessions?: Readonly<Record<string, string>>;
  readonly more?: object;
}

/** A note as Git AI 1.6 writes it. */
export function noteOf({ files, sessions, more = {} }: NoteParts = {}): string {
  const attested = files ?? { "src/login.ts": { "s_c9883b05a2487d::t_9f8e7d6c5b4a32": "1-10,15" } };
  const named = sessions ?? { s_c9883b05a2487d: "s-1" };
  const lines = Object.entries(attested).flatMap(([path, entries]) => [
    / /.test(path) ? `"${path}"` : path,
    ...Object.entries(entries).map(([key, ranges]) => `  ${key} ${ranges}`),
  ]);
  const records = Object.entries(named).map(([key, id]) => [
    key,
    { agent_id: { tool: "claude", id, model: "claude-opus-4-6" }, human_author: "Ada <ada@example.com>" },
  ]);
  const metadata = {
    schema_version: "authorship/3.0.0",
    git_ai_version: "1.6.24",
    base_commit_sha: "",
    prompts: {},
    sessions: Object.fromEntries(records),
    ...more,
  };
  return `${lines.join("\n")}\n---\n${JSON.stringify(metadata, null, 2)}`;
}

/** Sends notes by their commits. */
export const upload = (t: TestInstance, token: string, notes: Readonly<Record<string, string>>) =>
  t.post(UPLOAD, {
    headers: { "x-api-key": token, "x-author-identity": "Ada <ada@example.com>" },
    json: { entries: Object.entries(notes).map(([commit_sha, content]) => ({ commit_sha, content })) },
  });

/** What is kept of these commits. */
export const read = (t: TestInstance, token: string, ...commits: string[]) =>
  t.get(`${NOTES}?commits=${commits.join(",")}`, { headers: { "x-api-key": token } });
