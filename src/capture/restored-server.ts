import { MINUTE_MS } from "../kit/clock.ts";
import { ask } from "./client.ts";
import { type Capture, type Credentials, readSetting, writeSetting } from "./state.ts";

/*
 * A server that was restored from a backup or a replica has lost part of what it acknowledged. This machine still has it, and sends it
 * again.
 */

/** A setting: when a restore of the server was noticed last, in milliseconds since the epoch. */
export const SERVER_WAS_RESTORED = "serverWasRestored";
/** A setting: the name of the server's log, which is another after each restore. */
const LOG = "log";
/** A setting: whether the server is still to be asked for the last number that it has of every stream. */
const ALL_STREAMS = "allStreams";
/** Allowance for a clock of this machine that was set back meanwhile. */
const MARGIN_MS = 60 * MINUTE_MS;

/**
 * Compares the name of the server's log with the one heard last. Another name means a restore: what was acknowledged under the old one may
 * be lost.
 */
export function heedLog(capture: Capture, log: string | null): void {
  const known = readSetting<string>(capture, LOG);
  if (log === null || log === known) return;
  capture.transact(() => {
    writeSetting(capture, LOG, log);
    if (known !== undefined) noteRestored(capture);
  });
}

/**
 * Whether the server at an address has another log than the one heard last, so was restored since. False where it does not say.
 * @param token the token by which the server knows this machine now
 */
export async function wasRestored(capture: Capture, url: string, token: string): Promise<boolean> {
  const known = readSetting<string>(capture, LOG);
  if (known === undefined) return false;
  const answer = await ask(url, "/api/policy", { token, timeoutMs: 10_000 });
  return answer.kind === "ok" && answer.log !== null && answer.log !== known;
}

/**
 * The last number that a server has of each stream of a binding, by repository. Empty where it does not know the binding any more, or does
 * not say.
 */
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
 * Marks sessions and brains to be sent again. Call once every stream was asked and none was refilled yet. A log is cut off at one instant:
 * what was acknowledged before the newest entry that the server still has is there as well. Where no such entry is known, everything is
 * sent again.
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
