import { statements } from "../../platform/store/store.ts";

export interface FoundSession {
  /** The number of its page. */
  readonly id: number;
  readonly title: string;
  readonly repoKey: string;
  /** `""` where none was told. */
  readonly branch: string;
}

/** What a session is found by, and how it is shown then. */
export interface FindsRow extends Omit<FoundSession, "id"> {
  readonly words: string;
}

interface Wanted {
  readonly teamId: string;
  /** Words in lower case; `''` is in every text. */
  readonly a: string;
  readonly b: string;
  readonly c: string;
  readonly d: string;
  readonly examined: number;
  readonly most: number;
}

/** All by the primary key of session_finds. */
export const rows = statements((db) => ({
  stored: db.prepare<[string, number], FindsRow>(
    "SELECT title, repo_key AS repoKey, branch, words FROM session_finds WHERE team_id = ? AND session_id = ?",
  ),
  put: db.prepare<[FindsRow & { teamId: string; sessionId: number }]>(
    `INSERT INTO session_finds (team_id, session_id, title, repo_key, branch, words)
     VALUES (@teamId, @sessionId, @title, @repoKey, @branch, @words)
     ON CONFLICT (team_id, session_id) DO UPDATE SET title = excluded.title, repo_key = excluded.repo_key, branch = excluded.branch,
       words = excluded.words`,
  ),
  drop: db.prepare<[string, number]>("DELETE FROM session_finds WHERE team_id = ? AND session_id = ?"),
  // From its end, no further than the bound.
  holding: db.prepare<[Wanted], FoundSession>(
    `SELECT session_id AS id, title, repo_key AS repoKey, branch FROM (
       SELECT session_id, title, repo_key, branch, words FROM session_finds WHERE team_id = @teamId ORDER BY session_id DESC LIMIT @examined)
     WHERE instr(words, @a) AND instr(words, @b) AND instr(words, @c) AND instr(words, @d) LIMIT @most`,
  ),
}));
