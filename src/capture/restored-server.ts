import { MINUTE_MS } from "../kit/clock.ts";
import { ask } from "./client.ts";
import { type Capture, type Credentials, readSetting, writeSetting } from "./state.ts";

/* A server that was restored from a backup or a replica knows less than it acknowledged; what is kept here fills it up again. */

/** A setting: when that was noticed last, in milliseconds since the epoch. */
export const SERVER_WAS_RESTORED = "serverWasRestored";
/** A setting: the name of the server's log, which is another after each restore. */
const LOG = "log";
/** A setting: whether every stream is to be asked how far it stands there. Stays until all were. */
const ALL_STREAMS = "allStreams";
/** What this machine's clock may have been set back by meanwhile. */
const MARGIN_MS = 60 * MINUTE_MS;

/** Compares the log's name with the one that was told before. What was acknowledged under that one may be lost. */
export function heedLog(capture: Capture, log: string | null): void {
  const known = readSetting<string>(capture, LOG);
  if (log === null || log === known) return;
  capture.transact(() => {
    writeSetting(capture, LOG, log);
    if (known !== undefined) noteRestored(capture);
  });
}

/**
 * Whether a server is known by another log than the one that was told before, and was restored since. False where it does not say so.
 * @param token what the server knows this machine by now
 */
export async function wasRestored(capture: Capture, url: string, token: string): Promise<boolean> {
  const known = readSetting<string>(capture, LOG);
  if (known === undefined) return false;
  const answer = await ask(url, "/api/policy", { token, timeoutMs: 10_000 });
  return answer.kind === "ok" && answer.log !== null && answer.log !== known;
}

/** How far a server has each stream of a binding, by repository; none where it does not know that any more, or does not say. */
export async function streamsThere(
  { rows }: Capture,
  { url, token }: Credentials,
): Promise<ReadonlyMap<string, number>> {
  const there = new Map<string, number>();
  for (const { repo } of rows.streams.all()) {
    const body = JSON.stringify({ ...(repo === "" ? {} : { repoKey: repo }), entries: [] });
    const answer = await ask(url, "/api/telemetry/ingest", { method: "POST", token, body, timeoutMs: 10_000 });
    if (answer.kind !== "ok") break;
    if (typeof answer.body.maxSeq === "number") there.set(repo, answer.body.maxSeq);
  }
  return there;
}

/** Call in a transaction. */
export function noteRestored(capture: Capture): void {
  writeSetting(capture, ALL_STREAMS, true);
  writeSetting(capture, SERVER_WAS_RESTORED, capture.clock.now());
}

export const asksAllStreams = (capture: Capture): boolean => readSetting<boolean>(capture, ALL_STREAMS) === true;

/**
 * Lets sessions and brains be sent again, once every stream was asked and none refilled yet. A log is cut off at one instant: what was
 * acknowledged before the newest entry that it still has, it has as well. All that is kept where no such entry is known.
 */
export function sendAgain(capture: Capture): void {
  const { rows } = capture;
  capture.transact(() => {
    const since = (rows.newestAcknowledged.get() ?? MARGIN_MS) - MARGIN_MS;
    rows.resendSessions.run({ since });
    rows.forgetBrains.run({ since });
    writeSetting(capture, ALL_STREAMS, false);
  });
}
