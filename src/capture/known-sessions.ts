import { asCount, asObjects, asText, type Fields, readInstant } from "../formats/values.ts";
import type { Exchange } from "./exchange.ts";
import { prepareKnownRows } from "./known-rows.ts";
import type { SessionHead } from "./session-head.ts";
import { type Capture, readSetting, writeSetting } from "./state.ts";

/*
 * A machine that was disconnected, or whose state was put back as it was earlier, has forgotten what it sent. The server still has it: from
 * a device that is no more, or from this one.
 */

/**
 * A setting: set where sessions that wait may have been sent before; to the instant at which that was noticed, in milliseconds since the
 * epoch, where this device itself may have sent them.
 */
const MAY_BE_KNOWN = "mayBeKnown";
/** Less than the service takes at once: the ids stand in an address, of which proxies take 8 KiB. */
const MAX_IDS = 50;
const PATH = "/api/agent-traces/known";
type KnownRows = ReturnType<typeof prepareKnownRows>;
const FOR_EVER = Number.MAX_SAFE_INTEGER;

/** Has the server asked which sessions it knows before any is sent, where this machine remembers none. Call in a transaction. */
export function expectKnown(capture: Capture): void {
  const { sessions = 0 } = capture.rows.countSessions.get() ?? {};
  if (sessions === 0) writeSetting(capture, MAY_BE_KNOWN, 0);
}

/** The same where this machine remembers less than it sent. Call in a transaction. */
export function expectOwn(capture: Capture): void {
  writeSetting(capture, MAY_BE_KNOWN, capture.clock.now());
}

/** Ends the asking, once all that was there at connecting was sent. @param isRead whether the pass read all that there is */
export function endKnown({ capture, hasAnswered, stopped, setback }: Exchange, isRead: boolean): void {
  const isSent = hasAnswered && stopped === undefined && setback === undefined;
  if (isRead && isSent && readSetting(capture, MAY_BE_KNOWN) !== undefined) capture.rows.dropSetting.run(MAY_BE_KNOWN);
}

/**
 * Leaves waiting sessions that the server knows, and their entries, as they were sent. A session that went on since is sent as a
 * whole, and its entries from there on. A server that does not say what it has is sent everything.
 * @returns false when the server cannot answer now
 */
export async function leaveKnown(exchange: Exchange): Promise<boolean> {
  const { capture } = exchange;
  const since = readSetting<number>(capture, MAY_BE_KNOWN);
  if (since === undefined) return true;
  const rows = prepareKnownRows(capture.db);
  const waiting = rows.unsentSessions.all(Number(since));
  for (let at = 0; at < waiting.length; at += MAX_IDS) {
    const ids = encodeURIComponent(waiting.slice(at, at + MAX_IDS).join(","));
    const answer = await exchange.request(`${PATH}?ids=${ids}${since ? "&own=true" : ""}`, {}, "traces");
    if (answer.kind !== "ok") return answer.kind === "refused" && exchange.stopped === undefined;
    const { sessions } = answer.body;
    const known = asObjects(sessions);
    if (known.length > 0) capture.transact(() => leave(capture, rows, known, since || FOR_EVER));
  }
  return true;
}

/** @param most what came later was never sent: this machine knows all that it sent since then */
function leave({ rows }: Capture, own: KnownRows, known: readonly Fields[], most: number): void {
  const until: Record<string, number> = {};
  for (const there of known) {
    const row = rows.session.get(asText(there.id) ?? "");
    const endedAt = readInstant(there.endedAt);
    if (!row || endedAt === null) continue;
    const { endedAt: end, commits } = JSON.parse(row.head) as SessionHead;
    const isWhole =
      (readInstant(end) ?? FOR_EVER) <= endedAt &&
      (own.countSpans.get(row.id) ?? 0) <= asCount(there.spans) &&
      commits.length <= asCount(there.commits);
    if (isWhole) own.leaveSession.run(row.id);
    until[row.id] = Math.min(isWhole ? FOR_EVER : endedAt, most);
  }
  own.dropEntries.run(JSON.stringify(until));
  for (const { repo, acknowledged, attempted } of rows.streams.all()) {
    // No number after this one was sent to the server yet.
    const after = Math.max(attempted, acknowledged);
    for (const close of own.closeGaps) close.run({ repo, after });
  }
}
