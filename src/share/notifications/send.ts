import { type Core, slot } from "../../core.ts";
import { DAY_MS, MINUTE_MS, SECOND_MS } from "../../kit/clock.ts";
import { MAX_ERASED_ROWS } from "../../kit/erase-steps.ts";
import { StoreUnavailable } from "../../kit/errors.ts";
import { type Job, lookAtClock } from "../../platform/jobs/jobs.ts";
import { dropNoticesBefore } from "../../platform/notices/notices.ts";
import { attempt } from "./attempt.ts";
import { fanOut } from "./fan-out.ts";
import { type MessageRow, rows } from "./rows.ts";

/** Channels that are sent to at the same time. */
const MAX_AT_ONCE = 16;
/** Messages that a channel gets before others have their turn. */
const MAX_IN_A_ROW = 50;
/** A message waits for an hour at most before it is tried, and for a day from then on. */
const MAX_WAIT_MS = DAY_MS + DAY_MS / 12;
/** For so long it is known what was sent. */
const KEPT_MS = 30 * DAY_MS;

/** Since when it is looked for what is due, and the clock's offset; channels that are being sent to; and when each had its turn, so that one that has much to send, or is slow, keeps no other waiting. */
const sending = slot(({ clock }) => ({
  since: clock.now(),
  offset: clock.now() - clock.monotonic(),
  running: new Map<string, Promise<void>>(),
  served: new Map<string, number>(),
  /** Since when a channel takes nothing, by a clock that stands still while the machine sleeps. */
  failing: new Map<string, number>(),
  turn: 0,
  ends: new AbortController(),
  droppedAt: 0,
}));

/** Ends what is being sent; it is tried again by the next process. */
export const stopSending = (core: Core): void => sending(core).ends.abort();

/** Sends what is due. It does not wait for it: who answers slowly must not delay what is due to others. */
export const sendingJob: Job = {
  name: "notifications",
  everyMs: SECOND_MS,
  async run(core) {
    // Begins before anything is put to be sent.
    sending(core);
    await followClock(core);
    await fanOut(core);
    startDue(core);
    await dropOld(core);
  },
};

/** Moves what waits along with a clock that was set: nothing has waited longer for that, or is given up. */
async function followClock(core: Core): Promise<void> {
  const { clock, store } = core;
  const state = sending(core);
  const sql = rows(store);
  const now = clock.now();
  const by = Math.round(now - clock.monotonic() - state.offset);
  if (Math.abs(by) >= MINUTE_MS) {
    state.offset += by;
    state.since += by;
    await store.write(() => sql.shift.run({ by }));
  }
  // No schedule puts anything off for so long: the clock ran ahead when it was, and was put right while no process ran.
  const after = now + MAX_WAIT_MS;
  if (sql.isDueAfter.get(after) !== undefined) await store.write(() => sql.pullIn.run({ now, after }));
}

function startDue(core: Core): void {
  const state = sending(core);
  if (!core.store.db.open || state.ends.signal.aborted) return;
  const due = rows(core.store).dueChannels.all(core.clock.now());
  const turnOf = (id: string) => state.served.get(id) ?? 0;
  const next = due.filter((id) => !state.running.has(id)).sort((a, b) => turnOf(a) - turnOf(b));
  for (const id of next.slice(0, MAX_AT_ONCE - state.running.size)) {
    state.served.set(id, ++state.turn);
    const run = serve(core, id)
      .catch((error: unknown) => {
        if (error instanceof StoreUnavailable || !core.store.db.open) return;
        core.log.error("notification_failed", { channel: id, cause: String(error).slice(0, 200) });
      })
      .finally(() => {
        state.running.delete(id);
        if (due.length > MAX_AT_ONCE) startDue(core);
      });
    state.running.set(id, run);
  }
}

/** A channel's turn: what is due to it, until something fails. */
async function serve(core: Core, channelId: string): Promise<void> {
  const { ends, since, failing } = sending(core);
  const { signal } = ends;
  for (let sent = 0; sent < MAX_IN_A_ROW && !signal.aborted; sent++) {
    const message = rows(core.store).nextDue.get(channelId, core.clock.now());
    if (!message) return;
    if (await attempt(core, message, since, signal)) failing.delete(channelId);
    else return giveUpOld(core, message);
  }
}

/** Gives up all messages older than a day at once when their channel has failed for a day: trying each once more would take days. */
async function giveUpOld(core: Core, { channelId, firstAt }: MessageRow): Promise<void> {
  const { clock, store } = core;
  const { failing, ends } = sending(core);
  const since = failing.get(channelId) ?? clock.monotonic();
  failing.set(channelId, since);
  const now = clock.now();
  const before = now - DAY_MS;
  if (clock.monotonic() - since < DAY_MS || firstAt > before) return;
  const old = { channelId, now, before, outcome: "the channel took nothing for a day" };
  const next = () => rows(store).giveUpOld.run({ ...old, limit: MAX_ERASED_ROWS }).changes > 0;
  while (!ends.signal.aborted && (await store.write(next)));
}

/** Lets go what was sent long ago, once an hour by a proven clock: all of it, with others let in between. */
async function dropOld(core: Core): Promise<void> {
  const state = sending(core);
  const now = core.clock.now();
  if (Math.abs(now - state.droppedAt) < DAY_MS / 24 || lookAtClock(core) !== "proven") return;
  state.droppedAt = now;
  for (const drop of [dropMessagesBefore, dropNoticesBefore])
    for (let after: number | null = 0; after !== null && !state.ends.signal.aborted; ) {
      const from: number = after;
      after = await core.store.write(() => drop(core, now - KEPT_MS, from));
    }
  await core.store.write(() => rows(core.store).dropRemoved.run());
}

/** Row change, as `dropNoticesBefore`; what waits to be sent stays. */
function dropMessagesBefore({ store }: Core, at: number, after: number): number | null {
  const sql = rows(store);
  const last = sql.lastOfSlice.get({ at, after, limit: MAX_ERASED_ROWS }) ?? null;
  if (last !== null) sql.dropBefore.run({ at, after, last });
  return last;
}
