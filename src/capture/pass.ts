import { DAY_MS } from "../kit/clock.ts";
import { local } from "../platform/store/store.ts";
import { tendBrains } from "./brain/tend.ts";
import { findCommits } from "./commits.ts";
import { Exchange, isRejected, rejectionOf } from "./exchange.ts";
import { endKnown } from "./known-sessions.ts";
import { follow } from "./moved.ts";
import {
  askPolicy,
  holdQuiet,
  type KnownPolicy,
  knownPolicy,
  type QuietReason,
  quietNow,
  quietWindows,
} from "./policy.ts";
import { forgetUnknown, prune } from "./prune.ts";
import { isDue } from "./schedule.ts";
import { rotateToken, sendAll, sendHeartbeat } from "./send.ts";
import { dropHeard, hasRings, takeRings } from "./sources/rings.ts";
import { type Capture, LAST_PASS, NOT_CONNECTED, readCredentials, readSetting, writeSetting } from "./state.ts";
import { IS_FULL, putOffNow } from "./status.ts";
import { Sweep } from "./sweep.ts";
import { isProven, readableSince } from "./wrong-clock.ts";

const MAX_UNREADABLE = 20;
export interface PassOptions {
  /** Ask the server even while it is being left in peace after a failure. */
  readonly force?: boolean;
  /** Told how much of what is new has been read and sent, from 0 to 1. */
  readonly onProgress?: (share: number) => void;
  readonly agents?: readonly string[] | undefined;
  /** How much may wait to be sent before reading stops. */
  readonly maxOutboxBytes?: number;
}

export interface PassResult {
  /** Events that were new. */
  readonly recorded: number;
  readonly sessionsSent: number;
  /** Whether a hook rang since the last pass, or during this one. */
  readonly rang: boolean;
  /** Why nothing was read. */
  readonly quiet?: QuietReason | "no-since" | "no-policy" | "outbox-full" | undefined;
  /** Why not everything was sent. */
  readonly stopped?: string | undefined;
  /** Why sending was put off, if only of one kind of delivery: as where the team's tier does not include it. */
  readonly waits?: string | undefined;
  readonly retryInMs?: number | undefined;
  /** Files and folders that could not be read, with the reason. */
  readonly unreadable: readonly { readonly path: string; readonly reason: string }[];
}

/**
 * Reads what is new in every transcript, and sends what waits.
 * @returns undefined when another pass is at work: it hears of whatever rings meanwhile
 * @throws Error when the machine is not connected, or was disconnected since `capture` was opened
 */
export async function runPass(capture: Capture, options: PassOptions = {}): Promise<PassResult | undefined> {
  for (let result: PassResult | undefined; ; ) {
    mustBeInPlace(capture);
    const release = local.tryLock(capture.places.lock);
    if (!release) return result;
    try {
      mustBeInPlace(capture);
      result = await passOnce(capture, options);
      while (takeRings(capture)) result = combine(result, await passOnce(capture, options));
    } finally {
      release();
    }
    // A hook may have rung after the last look, while the lock was still held. Its own process gave up, so this one goes on.
    if (!hasRings(capture)) return result;
  }
}

/**
 * Throws where the machine was disconnected, or a newer program took over the database, while this process waited or watched: records for
 * one server must not reach the next, nor be read as an older program would.
 */
function mustBeInPlace(capture: Capture): void {
  if (!capture.isInPlace()) throw new Error("this machine was disconnected meanwhile");
  if (capture.isOutdated()) throw new Error("a newer version of this program is at work by now: start it again");
}

const combine = (a: PassResult, b: PassResult): PassResult => ({
  ...b,
  recorded: a.recorded + b.recorded,
  sessionsSent: a.sessionsSent + b.sessionsSent,
  rang: true,
});

async function passOnce(capture: Capture, options: PassOptions): Promise<PassResult> {
  const credentials = readCredentials(capture.places);
  if (!credentials) throw new Error(NOT_CONNECTED);
  const rang = takeRings(capture);
  holdQuiet(capture);
  const mayForget = isProven(capture, readSetting<number>(capture, LAST_PASS));
  const exchange = new Exchange(capture, credentials, options.force);
  const mayAsk = (options.force || !isRejected(capture)) && exchange.mayDo("server");
  if (mayAsk) await askPolicy(exchange);
  if (await follow(exchange)) await askPolicy(exchange);
  const policy = knownPolicy(capture);
  const readable = readableSince(capture);
  const quiet = whyQuiet(capture, readable, policy);
  const sending = mayAsk && exchange.stopped === undefined && policy !== undefined && policy.captureMode !== "off";
  const sweep = new Sweep(capture, options, sending ? exchange : undefined);
  if (policy && quiet !== undefined) {
    const windows = quietWindows(capture);
    dropHeard(capture, (at) => windows.some(({ since, until }) => at >= since && at < until));
  }
  if (policy && readable && quiet === undefined) {
    forgetUnknown(capture);
    await sweep.run({ mode: policy.captureMode, ...readable });
    findCommits(capture);
  }
  if (sending) await talk(exchange);
  // The team may move while something is sent.
  if (await follow(exchange)) await talk(exchange);
  const unread = quiet ?? (sweep.isFull ? "outbox-full" : undefined);
  endKnown(exchange, unread === undefined);
  if (exchange.stopped === undefined) await rotateToken(exchange);
  if (mayForget && isDue(capture, "prune", DAY_MS)) prune(capture);
  capture.transact(() => {
    writeSetting(capture, LAST_PASS, capture.clock.now());
    writeSetting(capture, "unreadable", sweep.unreadable.slice(0, MAX_UNREADABLE));
    writeSetting(capture, IS_FULL, sweep.isFull);
  });
  return {
    recorded: sweep.recorded,
    sessionsSent: exchange.sessionsSent.size,
    rang,
    quiet: unread,
    stopped: exchange.stopped ?? exchange.setback ?? rejectionOf(capture)?.reason,
    waits: putOffNow(capture)?.reason,
    retryInMs: exchange.retryInMs,
    unreadable: sweep.unreadable,
  };
}

function whyQuiet(capture: Capture, since: unknown, policy: KnownPolicy | undefined): PassResult["quiet"] {
  if (since === undefined) return "no-since";
  return policy ? quietNow(capture)?.reason : "no-policy";
}

/** Sends what waits and what is due; the first answer that says "not now" ends it. */
async function talk(exchange: Exchange): Promise<void> {
  for (const step of [sendAll, tendBrains, sendHeartbeat]) {
    if (exchange.stopped !== undefined) return;
    await step(exchange);
  }
}
