/** The channels that a kind of notice is for: those of a team, or those of the installation, which get all teams' notices, too. */
type Audience = "team" | "installation";

interface NoticeType {
  /** In a list to choose from. */
  readonly label: string;
  readonly audience: Audience;
}

/** All kinds of notices, by the names that receivers know. Names are part of the interface: none is ever reused. */
export const NOTICE_TYPES = {
  gap: { label: "Gap", audience: "team" },
  rollback: { label: "Rollback", audience: "team" },
  "defect.new": { label: "New error", audience: "team" },
  "defect.recurred": { label: "Error came again", audience: "team" },
  "error.reopened": { label: "Resolved error came again", audience: "team" },
  "session.failed": { label: "Session failed", audience: "team" },
  "device.quiet": { label: "Device went quiet", audience: "team" },
  "budget.reached": { label: "Budget reached", audience: "team" },
  "license.due": { label: "Licence due", audience: "team" },
  "key.due": { label: "Key or token due", audience: "team" },
  "sign_in.refused": { label: "Sign-ins refused", audience: "team" },
  "erasure.done": { label: "Erasure done", audience: "team" },
  "digest.weekly": { label: "Weekly digest", audience: "team" },
  "backup.stale": { label: "Backup stale", audience: "installation" },
  "replica.stale": { label: "Replica stale", audience: "installation" },
  "disk.low": { label: "Disk low", audience: "installation" },
  test: { label: "Test", audience: "installation" },
} as const satisfies Readonly<Record<string, NoticeType>>;

export type NoticeName = keyof typeof NOTICE_TYPES;

/** The data of a notice: numbers, ids, and titles of a bounded length; never the text of a prompt or a file. */
export type NoticeData = Readonly<Record<string, string | number | boolean | null | readonly NoticeData[]>>;
