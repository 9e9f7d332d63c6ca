import type { Core } from "../../core.ts";
import { HOUR_MS, SECOND_MS } from "../../kit/clock.ts";
import { newId } from "../../kit/ids.ts";
import { markAddressed, newNotices, type StoredNotice } from "../../platform/notices/notices.ts";
import { type Channel, listChannels } from "./channels.ts";
import { rows } from "./rows.ts";

/** Notices read at once; and how long a transaction goes on with them: each may be a message to every channel. */
const SLICE = 100;
const TRANSACTION_MS = 10;
/** People are told of what happens within so long in one message, for each type. */
const FOLD_MS = 10 * SECOND_MS;
/** Messages an hour that people get at most; the rest comes in one when the hour is over. */
const MAX_HOURLY = 20;
/** Notices that one message names; of others it tells how many there are. */
const MAX_NAMED = 200;

/** Makes messages of what was noted since, for each channel that wants to hear of it. */
export async function fanOut(core: Core): Promise<void> {
  for (;;) {
    const notices = newNotices(core, SLICE);
    if (notices.length === 0) return;
    const isAll = await core.store.write(() => {
      const until = core.clock.monotonic() + TRANSACTION_MS;
      const channels = listChannels(core).filter(({ disabledAt }) => disabledAt === null);
      for (const [i, notice] of notices.entries()) {
        if (i > 0 && core.clock.monotonic() > until) return false;
        if (!markAddressed(core, notice.id)) continue;
        for (const channel of channels.filter((one) => wants(one, notice))) address(core, channel, notice);
      }
      return true;
    });
    if (isAll && notices.length < SLICE) return;
  }
}

/** A team's channels hear of that team alone, those of the installation of all. */
const wants = ({ teamId, events }: Channel, { type, teamId: of }: StoredNotice): boolean =>
  (teamId === null || teamId === of) && events.includes(type);

/** Row change. */
function address(core: Core, channel: Channel, { id, type }: StoredNotice): void {
  const now = core.clock.now();
  if (channel.kind === "webhook" || type === "digest.weekly") {
    queue(core, channel, type, id, now);
    return;
  }
  const sql = rows(core.store);
  // Messages are put off for less than two hours. One due later is left over from a clock that ran ahead, and does not count.
  const until = now + 2 * HOUR_MS;
  const lately = sql.lately.all({
    channelId: channel.id,
    since: now - HOUR_MS,
    until: now + HOUR_MS,
    limit: MAX_HOURLY,
  });
  const isMany = lately.length >= MAX_HOURLY;
  const open =
    sql.openMessage.get({ channelId: channel.id, type: null, now, until }) ??
    (isMany ? undefined : sql.openMessage.get({ channelId: channel.id, type, now, until }));
  if (open) {
    const ids = JSON.parse(open.notices) as number[];
    const isFull = ids.length >= MAX_NAMED;
    sql.join.run(isFull ? open.notices : JSON.stringify([...ids, id]), open.more + Number(isFull), open.id);
  } else if (isMany) queue(core, channel, null, id, Math.max(now, (lately.at(-1)?.firstAt ?? now) + HOUR_MS));
  else queue(core, channel, type, id, now + FOLD_MS);
}

function queue(core: Core, { id: channelId }: Channel, type: string | null, notice: number, at: number): void {
  const messageId = newId("msg", core.clock, core.random);
  const notices = JSON.stringify([notice]);
  rows(core.store).insertMessage.run({ messageId, channelId, type, notices, firstAt: at, dueAt: at });
}
