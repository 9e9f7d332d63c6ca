import { statements } from "../../platform/store/store.ts";

/** What a session's document says of it, as its row holds it. */
export interface SaidRow {
  readonly teamId: string;
  readonly deviceId: string;
  readonly externalId: string;
  readonly sessionId: number;
  readonly repoKey: string;
  /** `""` for what nobody said. */
  readonly branch: string;
  readonly agent: string;
  readonly model: string;
  readonly outcome: string;
  readonly result: string;
  readonly title: string | null;
  /** `NO_START` where nobody said. */
  readonly startedAt: number;
  /** Milliseconds; -1 where nobody said. */
  readonly duration: number;
  readonly commits: number;
  readonly failedSteps: number;
  /** Whom the agent names as signed in; `""` for nobody. */
  readonly userEmail: string;
}

/** What a session used, at the prices of the moment, as its row holds it. */
export interface SpentRow {
  readonly tokens: number;
  /** Of them, those without a price. */
  readonly unpriced: number;
  /** Billionths of a dollar; -1 where nothing of it has a price. */
  readonly costNano: number;
  /** Trillionths beyond them. */
  readonly costRest: number;
}

export interface SessionName {
  readonly teamId: string;
  readonly deviceId: string;
  readonly externalId: string;
}

/** Whose a session is, and when it began. */
type BegunRow = Pick<SaidRow, "teamId" | "startedAt">;

/** Below every start that can be said. */
export const NO_START = Number.MIN_SAFE_INTEGER;

const SAID = `session_id = @sessionId, repo_key = @repoKey, branch = @branch, agent = @agent, model = @model, outcome = @outcome,
  result = @result, title = @title, started_at = @startedAt, duration = @duration, commits = @commits, failed_steps = @failedSteps,
  user_email = @userEmail`;

export const rows = statements((db) => ({
  // All by session_figures' unique index (device_id, external_id).
  putSaid: db.prepare<[SaidRow]>(
    `INSERT INTO session_figures (team_id, device_id, external_id, session_id, repo_key, branch, agent, model, outcome, result, title,
       started_at, duration, commits, failed_steps, user_email, caused, tokens, unpriced, cost_nano, cost_rest)
     VALUES (@teamId, @deviceId, @externalId, @sessionId, @repoKey, @branch, @agent, @model, @outcome, @result, @title,
       @startedAt, @duration, @commits, @failedSteps, @userEmail, 0, 0, 0, -1, 0)
     ON CONFLICT (device_id, external_id) DO UPDATE SET ${SAID}`,
  ),
  putSpent: db.prepare<[SpentRow & SessionName & { noStart: number }]>(
    `INSERT INTO session_figures (team_id, device_id, external_id, session_id, repo_key, branch, agent, model, outcome, result, title,
       started_at, duration, commits, failed_steps, caused, tokens, unpriced, cost_nano, cost_rest)
     VALUES (@teamId, @deviceId, @externalId, NULL, '', '', '', '', '', 'unknown', NULL, @noStart, -1, 0, 0, 0, @tokens, @unpriced, @costNano, @costRest)
     ON CONFLICT (device_id, external_id) DO UPDATE SET tokens = @tokens, unpriced = @unpriced, cost_nano = @costNano, cost_rest = @costRest
       WHERE tokens <> @tokens OR unpriced <> @unpriced OR cost_nano <> @costNano OR cost_rest <> @costRest`,
  ),
  // What lists show of it goes; what it used stays.
  hide: db.prepare<[SessionName & { noStart: number }]>(
    `UPDATE session_figures SET session_id = NULL, repo_key = '', branch = '', agent = '', model = '', outcome = '', result = 'unknown',
       title = NULL, started_at = @noStart, duration = -1, commits = 0, failed_steps = 0, user_email = '', caused = 0
     WHERE device_id = @deviceId AND external_id = @externalId AND session_id IS NOT NULL`,
  ),
  start: db
    .prepare<[string, string], number>(
      "SELECT started_at FROM session_figures WHERE device_id = ? AND external_id = ? AND session_id IS NOT NULL",
    )
    .pluck(),
  spent: db.prepare<[string, string], SpentRow>(
    `SELECT tokens, unpriced, cost_nano AS costNano, cost_rest AS costRest FROM session_figures
     WHERE device_id = ? AND external_id = ?`,
  ),
  clearSpent: db.prepare<[string, string]>(
    "UPDATE session_figures SET tokens = 0, unpriced = 0, cost_nano = -1, cost_rest = 0 WHERE device_id = ? AND external_id = ?",
  ),
  // A walk of the table.
  clearAllSpent: db.prepare<[]>(
    "UPDATE session_figures SET tokens = 0, unpriced = 0, cost_nano = -1, cost_rest = 0 WHERE tokens > 0",
  ),
  // All by session_figures_by_session.
  causedBy: db.prepare<[number], number>("SELECT caused FROM session_figures WHERE session_id = ?").pluck(),
  isKept: db.prepare<[number], 1>("SELECT 1 FROM session_figures WHERE session_id = ?").pluck(),
  setCaused: db.prepare<[{ sessionId: number; caused: number }], BegunRow>(
    `UPDATE session_figures SET caused = @caused WHERE session_id = @sessionId AND caused <> @caused
     RETURNING team_id AS teamId, started_at AS startedAt`,
  ),
  ofSession: db.prepare<[number], SessionName & BegunRow>(
    `SELECT team_id AS teamId, device_id AS deviceId, external_id AS externalId, started_at AS startedAt
     FROM session_figures WHERE session_id = ?`,
  ),
  setUser: db.prepare<[{ sessionId: number; userEmail: string }], BegunRow>(
    `UPDATE session_figures SET user_email = @userEmail WHERE session_id = @sessionId AND user_email <> @userEmail
     RETURNING team_id AS teamId, started_at AS startedAt`,
  ),
  // By session_figures' unique index (device_id, external_id).
  dropIfUnused: db.prepare<[string, string]>(
    "DELETE FROM session_figures WHERE device_id = ? AND external_id = ? AND session_id IS NULL AND tokens = 0 AND cost_nano <= 0",
  ),
  // By session_figures_by_cause.
  causedIn: db.prepare<[string, string], { sessionId: number; caused: number }>(
    `SELECT session_id AS sessionId, caused FROM session_figures
     WHERE team_id = ? AND repo_key = ? AND session_id IS NOT NULL AND caused > 0`,
  ),
  // By session_figures' unique index (device_id, external_id), its first column.
  dropUnused: db.prepare<[string, number]>(
    `DELETE FROM session_figures WHERE id IN (
       SELECT id FROM session_figures WHERE device_id = ? AND session_id IS NULL AND tokens = 0 AND cost_nano <= 0 LIMIT ?)`,
  ),
}));
