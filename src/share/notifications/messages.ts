import type { Core } from "../../core.ts";
import { conflict, fail, notFound } from "../../kit/problem.ts";
import type { Actor } from "../../platform/audit/audit.ts";
import { getChannel, record } from "./channels.ts";
import { type MessageRow, rows } from "./rows.ts";

/** What was sent to a channel, or is to be. */
export interface Message extends Omit<MessageRow, "notices" | "more"> {
  /** Notices in it. */
  readonly count: number;
}

const read = ({ notices, more, ...row }: MessageRow): Message => ({
  ...row,
  count: (JSON.parse(notices) as number[]).length + more,
});

/** A channel's messages, newest first. @param limit 1 to 200 */
export const messagesOf = (core: Core, channelId: string, limit: number): Message[] =>
  rows(core.store)
    .messagesOf.all(channelId, Math.min(Math.max(limit, 1), 200))
    .map(read);

/** Sends a message again that was delivered or given up, with all the tries it had. @throws Problem when it waits, or is not there */
export function sendAgain(core: Core, id: number, teamId: string | null, by: Actor): Promise<void> {
  return core.store.write(() => {
    const sql = rows(core.store);
    const message = Number.isSafeInteger(id) ? sql.message.get(id) : undefined;
    if (!message) fail(notFound, "There is no such message.");
    const channel = getChannel(core, message.channelId, teamId);
    if (channel.disabledAt !== null) fail(conflict, "The channel is paused: resume it first.");
    const now = core.clock.now();
    if (sql.again.run(now, now, id).changes === 0) fail(conflict, "It is being sent already.");
    record(core, by, "channel.resent", channel, { message: message.messageId });
  });
}
