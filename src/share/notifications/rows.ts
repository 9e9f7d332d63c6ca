import { statements } from "../../platform/store/store.ts";

export const CHANNEL_KINDS = ["webhook", "slack", "teams", "mail"] as const;
export type ChannelKind = (typeof CHANNEL_KINDS)[number];

export interface ChannelRow {
  readonly id: string;
  /** Null for one of the installation. */
  readonly teamId: string | null;
  readonly kind: ChannelKind;
  readonly name: string;
  /** A URL; of mail a JSON array of addresses. */
  readonly target: string;
  /** A JSON array of types. */
  readonly events: string;
  /** What a webhook is signed with, `whsec_…`; and what it was signed with in the day before it was replaced, with spaces between. */
  readonly secret: string | null;
  readonly previousSecret: string | null;
  readonly rotatedAt: number | null;
  readonly createdAt: number;
  readonly disabledAt: number | null;
  readonly disabledBecause: "paused" | "gone" | null;
}

export interface MessageRow {
  readonly id: number;
  /** Public, and the same however often it is tried. */
  readonly messageId: string;
  readonly channelId: string;
  /** Null where there are several. */
  readonly type: string | null;
  /** A JSON array of notices' numbers. */
  readonly notices: string;
  /** Notices beyond those. */
  readonly more: number;
  /** When it was to be sent first, and later by as long as no process ran that could. */
  readonly firstAt: number;
  /** Null once it is decided what became of it. */
  readonly dueAt: number | null;
  readonly tries: number;
  readonly state: "waiting" | "delivered" | "failed";
  readonly lastAt: number | null;
  readonly outcome: string | null;
}

const CHANNEL = `SELECT id, team_id AS teamId, kind, name, target, events, secret, previous_secret AS previousSecret,
  rotated_at AS rotatedAt, created_at AS createdAt, disabled_at AS disabledAt, disabled_because AS disabledBecause
  FROM notification_channels`;
const MESSAGE = `SELECT id, message_id AS messageId, channel_id AS channelId, type, notices, more, first_at AS firstAt,
  due_at AS dueAt, tries, state, last_at AS lastAt, outcome FROM notification_messages`;

/** People get a few messages an hour: those that are open, and those of the last hours, are among the newest of their channel. */
const LATEST = `channel_id = @channelId AND id > coalesce((SELECT id FROM notification_messages
  WHERE channel_id = @channelId ORDER BY id DESC LIMIT 1 OFFSET 60), 0)`;

/** Of whatever channel: one by one, as notification_messages_due has them. */
const OF_ANY = "channel_id IN (SELECT id FROM notification_channels)";

type NewMessage = Pick<MessageRow, "messageId" | "channelId" | "type" | "notices" | "firstAt">;

export const rows = statements((db) => ({
  insertChannel: db.prepare<[Omit<ChannelRow, "previousSecret" | "rotatedAt" | "disabledAt" | "disabledBecause">]>(
    `INSERT INTO notification_channels (id, team_id, kind, name, target, events, secret, created_at)
     VALUES (@id, @teamId, @kind, @name, @target, @events, @secret, @createdAt)`,
  ),
  // By primary key, as all that names an id.
  channel: db.prepare<[string], ChannelRow>(`${CHANNEL} WHERE id = ? AND removed_at IS NULL`),
  // By notification_channels_by_team; IS finds those of the installation, too.
  ofTeam: db.prepare<[string | null], ChannelRow>(
    `${CHANNEL} WHERE team_id IS ? AND removed_at IS NULL ORDER BY created_at, rowid`,
  ),
  channels: db.prepare<[], ChannelRow>(`${CHANNEL} WHERE removed_at IS NULL ORDER BY team_id, created_at, rowid`),
  setEvents: db.prepare<[string, string]>("UPDATE notification_channels SET events = ? WHERE id = ?"),
  setTarget: db.prepare<[string, string]>("UPDATE notification_channels SET target = ? WHERE id = ?"),
  rotate: db.prepare<[{ id: string; secret: string; previous: string; now: number }]>(
    "UPDATE notification_channels SET previous_secret = @previous, secret = @secret, rotated_at = @now WHERE id = @id",
  ),
  disable: db.prepare<[number | null, string | null, string]>(
    "UPDATE notification_channels SET disabled_at = ?, disabled_because = ? WHERE id = ?",
  ),
  // What it was called with goes at once; the row goes with its last message.
  remove: db.prepare<[number, string]>(
    `UPDATE notification_channels SET removed_at = ?, name = '', target = '', secret = NULL, previous_secret = NULL
     WHERE id = ? AND removed_at IS NULL`,
  ),
  dropRemoved: db.prepare<[]>(
    `DELETE FROM notification_channels WHERE removed_at IS NOT NULL
       AND NOT EXISTS (SELECT 1 FROM notification_messages m WHERE m.channel_id = notification_channels.id)`,
  ),
  // The whole table, for a person who is erased.
  mailChannels: db.prepare<[], ChannelRow>(`${CHANNEL} WHERE kind = 'mail' AND removed_at IS NULL`),
  insertMessage: db.prepare<[NewMessage & { dueAt: number }]>(
    `INSERT INTO notification_messages (message_id, channel_id, type, notices, first_at, due_at, state)
     VALUES (@messageId, @channelId, @type, @notices, @firstAt, @dueAt, 'waiting')`,
  ),
  // All that follow by notification_messages_by_channel, or the primary key.
  openMessage: db.prepare<[{ channelId: string; type: string | null; now: number; until: number }], MessageRow>(
    `${MESSAGE} WHERE ${LATEST} AND type IS @type AND due_at > @now AND due_at <= @until AND tries = 0
     ORDER BY id DESC LIMIT 1`,
  ),
  join: db.prepare<[string, number, number]>("UPDATE notification_messages SET notices = ?, more = ? WHERE id = ?"),
  lately: db.prepare<[{ channelId: string; since: number; until: number; limit: number }], { firstAt: number }>(
    `SELECT first_at AS firstAt FROM notification_messages WHERE ${LATEST} AND first_at > @since AND first_at <= @until
     ORDER BY id DESC LIMIT @limit`,
  ),
  messagesOf: db.prepare<[string, number], MessageRow>(`${MESSAGE} WHERE channel_id = ? ORDER BY id DESC LIMIT ?`),
  message: db.prepare<[number], MessageRow>(`${MESSAGE} WHERE id = ?`),
  claim: db.prepare<[{ id: number; tries: number; firstAt: number; dueAt: number; now: number }]>(
    `UPDATE notification_messages SET tries = tries + 1, first_at = @firstAt, due_at = @dueAt, last_at = @now
     WHERE id = @id AND tries = @tries AND due_at <= @now AND EXISTS (SELECT 1 FROM notification_channels
       WHERE id = channel_id AND disabled_at IS NULL AND removed_at IS NULL)`,
  ),
  // A message may be given up while it is being sent, when its channel is paused: that stays, unless it was delivered.
  settle: db.prepare<[{ id: number; dueAt: number | null; state: string; outcome: string }]>(
    `UPDATE notification_messages SET due_at = @dueAt, state = @state, outcome = @outcome
     WHERE id = @id AND (due_at IS NOT NULL OR @state = 'delivered')`,
  ),
  again: db.prepare<[number, number, number]>(
    `UPDATE notification_messages SET due_at = ?, first_at = ?, tries = 0, state = 'waiting' WHERE id = ? AND due_at IS NULL`,
  ),
  giveUp: db.prepare<[string, string, number]>(
    `UPDATE notification_messages SET due_at = NULL, state = 'failed', outcome = ? WHERE id IN
       (SELECT id FROM notification_messages WHERE channel_id = ? AND due_at IS NOT NULL LIMIT ?)`,
  ),
  // By notification_messages_due, as what follows.
  giveUpOld: db.prepare<[{ channelId: string; now: number; before: number; outcome: string; limit: number }]>(
    `UPDATE notification_messages SET due_at = NULL, state = 'failed', outcome = coalesce(outcome, @outcome) WHERE id IN
       (SELECT id FROM notification_messages WHERE channel_id = @channelId AND due_at <= @now AND first_at <= @before LIMIT @limit)`,
  ),
  // Once for each channel: however much was told, and waits.
  dueChannels: db
    .prepare<[number], string>(
      `SELECT id FROM notification_channels c
       WHERE EXISTS (SELECT 1 FROM notification_messages WHERE channel_id = c.id AND due_at <= ?)`,
    )
    .pluck(),
  isDueAfter: db
    .prepare<[number], number>(`SELECT 1 FROM notification_messages WHERE due_at > ? AND ${OF_ANY} LIMIT 1`)
    .pluck(),
  pullIn: db.prepare<[{ now: number; after: number }]>(
    `UPDATE notification_messages SET due_at = @now, first_at = @now WHERE due_at > @after AND ${OF_ANY}`,
  ),
  shift: db.prepare<[{ by: number }]>(
    `UPDATE notification_messages SET due_at = due_at + @by, first_at = first_at + @by WHERE due_at IS NOT NULL AND ${OF_ANY}`,
  ),
  nextDue: db.prepare<[string, number], MessageRow>(
    `${MESSAGE} WHERE channel_id = ? AND due_at <= ? ORDER BY due_at, id LIMIT 1`,
  ),
  waiting: db.prepare<[], number>("SELECT count(*) FROM notification_messages WHERE due_at IS NOT NULL").pluck(),
  // They come in order: behind a slice with nothing that is old there is nothing.
  lastOfSlice: db
    .prepare<[{ at: number; after: number; limit: number }], number>(
      `SELECT max(id) FROM (SELECT id, first_at FROM notification_messages WHERE id > @after ORDER BY id LIMIT @limit)
       HAVING min(first_at) < @at`,
    )
    .pluck(),
  dropBefore: db.prepare<[{ at: number; after: number; last: number }]>(
    "DELETE FROM notification_messages WHERE id > @after AND id <= @last AND first_at < @at AND due_at IS NULL",
  ),
}));
