import { setTimeout as sleep } from "node:timers/promises";
import { SECOND_MS } from "../kit/clock.ts";
import { type PassResult, runPass } from "./pass.ts";
import { type Capture, type CaptureParts, isConnected, openCapture } from "./state.ts";

/**
 * When a pass that a hook started looks again, in milliseconds after the last time: agents write the last records of a turn after
 * they called the hook.
 */
const LOOK_AGAIN_MS = [700, 1_500, 4_000];
/** How long a pass waits for a server that will be back. For longer, the next hook or the timer tries again. */
const WAIT_AT_MOST_MS = 120 * SECOND_MS;

/**
 * The pass of a hook: reads and sends, looks again a few times for what comes late, and ends. A hook may have rung just before the machine
 * was disconnected: then nothing is made anew.
 */
export async function runInBackground(parts: CaptureParts): Promise<void> {
  if (!isConnected(parts)) return;
  const capture = openCapture(parts);
  try {
    await passAndLookAgain(capture);
  } finally {
    capture.close();
  }
}

/**
 * A pass, and others a while later. A hook that rings during a pass leaves the work to this process, and its agent may write more: then all
 * looks begin anew.
 * @param pauses before each look, in milliseconds
 */
export async function passAndLookAgain(capture: Capture, pauses: readonly number[] = LOOK_AGAIN_MS): Promise<void> {
  let result = await runPass(capture);
  for (let looks = 0; looks < pauses.length; ) {
    // Another process has the lock: it hears of what rang.
    if (result === undefined) return;
    await sleep(pauses[looks]);
    result = await runPass(capture);
    looks = result?.rang ? 0 : looks + 1;
  }
  await waitForServer(capture, result);
}

async function waitForServer(capture: Capture, result: PassResult | undefined): Promise<void> {
  let waited = 0;
  for (let last = result; last?.retryInMs !== undefined && waited + last.retryInMs <= WAIT_AT_MOST_MS; ) {
    waited += last.retryInMs;
    await sleep(last.retryInMs + SECOND_MS / 10);
    last = await runPass(capture);
  }
}

/** Errors that pass by themselves: a disk that is full or does not answer, a lock that somebody else holds. */
const PASSES = /^(?:SQLITE_(?:FULL|IOERR|BUSY)|ENOSPC$|EDQUOT$|EIO$)/;

/**
 * Passes at an interval, or earlier where the server is to be asked again sooner, until the signal.
 * @param everyMs between passes
 * @param onFailure told of a pass that could not record, and is tried again
 * @throws Error for what does not pass by itself
 */
export async function watchOn(
  capture: Capture,
  everyMs: number,
  signal: AbortSignal,
  onPass: (result: PassResult) => void,
  onFailure: (error: unknown) => void,
): Promise<void> {
  while (!signal.aborted) {
    let result: PassResult | undefined;
    try {
      result = await runPass(capture);
      if (result) onPass(result);
    } catch (error) {
      if (!PASSES.test(String((error as NodeJS.ErrnoException).code))) throw error;
      onFailure(capture.explained(error));
    }
    await sleep(Math.min(everyMs, result?.retryInMs ?? everyMs), undefined, { signal }).catch(() => {});
  }
}
