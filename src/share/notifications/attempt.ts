import { type Core, slot } from "../../core.ts";
import { Buckets, type Quota } from "../../kit/buckets.ts";
import { MINUTE_MS } from "../../kit/clock.ts";
import { newId } from "../../kit/ids.ts";
import { fail, rateLimited } from "../../kit/problem.ts";
import { oneLine } from "../../kit/strings.ts";
import { type Actor, SYSTEM } from "../../platform/audit/audit.ts";
import { counter } from "../../platform/metrics/metrics.ts";
import { findNotices, type StoredNotice } from "../../platform/notices/notices.ts";
import { OutboundFailed, OutboundRefused, post, readRetryAfter } from "../../platform/outbound/outbound.ts";
import { type Channel, channelOf, disable, GIVEN_UP, getRow, giveUp, previousSecrets, record } from "./channels.ts";
import { type Sent, slack, teams, webhook } from "./formats.ts";
import { sendMail } from "./mail.ts";
import { type ChannelRow, type MessageRow, rows } from "./rows.ts";
import { areAllHad, nextTryAt } from "./schedule.ts";
import { payloadOf, say } from "./words.ts";

/** What became of one try. */
export interface Outcome {
  readonly delivered: boolean;
  /** The receiver's status line, or why there is none. */
  readonly text: string;
  /** The beginning of what the receiver replied; "" where there is none. Anybody's text. */
  readonly reply: string;
  /** What to add to RECKON_OUTBOUND, where that is what is missing. */
  readonly add?: string | undefined;
  readonly gone?: boolean;
  readonly retryAfterMs?: number;
}

/** Something to be sent to a channel. */
interface Letter {
  readonly messageId: string;
  readonly notices: readonly StoredNotice[];
  readonly more: number;
}

export const tries = counter(
  "reckon_notification_tries_total",
  "Tries to send notifications, by kind of channel and outcome.",
);

/** Sends something to a channel, once. */
async function send(core: Core, row: ChannelRow, letter: Letter, signal: AbortSignal): Promise<Outcome> {
  try {
    if (row.kind === "mail") {
      const to = channelOf(row).addresses;
      const said = say(core, letter.notices, letter.more);
      const at = core.clock.now();
      const taken = await sendMail(core, { ...said, to, messageId: letter.messageId, at }, signal);
      return { delivered: taken.isForAll, text: oneLine(taken.text.toWellFormed(), 200), reply: "" };
    }
    const { status, statusText, retryAfter, reply } = await post(core, row.target, written(core, row, letter), signal);
    return {
      delivered: status >= 200 && status < 300,
      text: `${status} ${statusText}`.trim(),
      reply,
      gone: status === 410,
      retryAfterMs: readRetryAfter(retryAfter, core.clock.now()),
    };
  } catch (error) {
    if (error instanceof OutboundRefused) return { delivered: false, text: error.message, reply: "", add: error.add };
    if (error instanceof OutboundFailed) return { delivered: false, text: error.message, reply: "" };
    throw error;
  }
}

function written(core: Core, row: ChannelRow, { messageId, notices, more }: Letter): Sent {
  if (row.kind === "slack") return slack(say(core, notices, more));
  if (row.kind === "teams") return teams(say(core, notices, more));
  const [notice] = notices as [StoredNotice];
  const now = core.clock.now();
  const secrets = [row.secret, ...previousSecrets(row, now)].filter((secret) => secret !== null);
  return webhook(messageId, now, payloadOf(core, notice), secrets);
}

/** Tests of one channel: each is a message to somebody. */
const TESTS: Quota = { count: 10, seconds: 60 };
const tests = slot(() => new Buckets());

/** Sends a test at once. @throws Problem 404; 429 after too many */
export async function testChannel(core: Core, id: string, by: Actor, teamId?: string | null): Promise<Outcome> {
  const row = getRow(core, id, teamId);
  const { allowed, retryAfterSeconds } = tests(core).take(id, core.clock.monotonic(), TESTS);
  if (!allowed) fail(rateLimited, { message: "Too many tests were sent. Try again in a minute.", retryAfterSeconds });
  const notice: StoredNotice = {
    id: 0,
    eventId: newId("evt", core.clock, core.random),
    type: "test",
    teamId: row.teamId,
    at: core.clock.now(),
    path: "/notifications",
    data: { channel: id },
  };
  const letter = { messageId: newId("msg", core.clock, core.random), notices: [notice], more: 0 };
  const outcome = await send(core, row, letter, new AbortController().signal);
  count(core, row, outcome);
  await core.store.write(() => record(core, by, "channel.tested", channelOf(row), { outcome: outcome.text }));
  return outcome;
}

const count = (core: Core, { kind }: Pick<Channel, "kind">, { delivered }: Outcome) =>
  tries.count(core, { kind, outcome: delivered ? "delivered" : "failed" });

/**
 * Tries a message that is due. That it is tried is stored before it is, so that a process that ends meanwhile tries it again later,
 * and not at once and for ever.
 * @param since when this process began to send: while none did, a message did not wait for its receiver
 * @returns whether it was delivered
 * @throws StoreUnavailable
 */
export async function attempt(core: Core, message: MessageRow, since: number, signal: AbortSignal): Promise<boolean> {
  const sql = rows(core.store);
  const row = sql.channel.get(message.channelId);
  const notices = findNotices(core, JSON.parse(message.notices) as number[]);
  const { id, more } = message;
  const now = core.clock.now();
  const down = Math.max(0, since - (message.dueAt ?? since));
  const firstAt = message.firstAt + down;
  const sent = message.tries + 1;
  const settle = (state: MessageRow["state"], outcome: string, dueAt: number | null = null) =>
    core.store.write(() => sql.settle.run({ id, state, outcome, dueAt }));
  const end = endOf(row, areAllHad(message.tries), notices.length === 0);
  if (!row || end !== undefined) {
    await settle("failed", end ?? GIVEN_UP.removed);
    return true;
  }
  const dueAt = nextTryAt(firstAt, sent, now, now) ?? now + MINUTE_MS;
  const claimed = await core.store.write(
    () => sql.claim.run({ id, tries: message.tries, firstAt, dueAt, now }).changes === 1,
  );
  if (!claimed) return true;
  const outcome = await send(core, row, { messageId: message.messageId, notices, more }, signal);
  count(core, row, outcome);
  if (outcome.delivered) await settle("delivered", outcome.text);
  else if (outcome.gone) {
    await settle("failed", outcome.text);
    await endChannel(core, row);
  } else {
    const next = nextTryAt(firstAt, sent, now, core.clock.now(), outcome.retryAfterMs);
    await settle(next === undefined ? "failed" : "waiting", outcome.text, next ?? null);
  }
  return outcome.delivered;
}

/** Why a message is not tried any more; undefined where it is. */
function endOf(row: ChannelRow | undefined, isLast: boolean, isErased: boolean): string | undefined {
  if (!row) return GIVEN_UP.removed;
  if (row.disabledBecause !== null) return GIVEN_UP[row.disabledBecause];
  if (isLast) return "the process ended during the last try";
  return isErased ? "what it told of was erased" : undefined;
}

/** A receiver that says it is gone is not asked again, until somebody resumes the channel. */
async function endChannel(core: Core, row: ChannelRow): Promise<void> {
  await core.store.write(() => {
    const channel = channelOf(row);
    disable(core, channel, "gone");
    record(core, SYSTEM, "channel.disabled", channel, { because: "410" });
  });
  await giveUp(core, row.id, "gone");
}
