import { Worker } from "node:worker_threads";
import { type Steps, unwatched } from "../../kit/steps.ts";

/**
 * Shows the progress of long work on this process's standard error: on a terminal in a line that changes, elsewhere in a line now and then.
 * A thread draws it, because much long work blocks this one: a look through the whole file, a copy, a large transaction.
 */

/** Shorter work shows nothing. */
const DRAWN_AFTER_MS = 1_000;
const DRAWN_EVERY_MS = 200;
const LOGGED_EVERY_MS = 30_000;
const REPORTED_EVERY_MS = 100;
/** How often to wait for a reader of standard error who takes nothing: it must not hold up the result. */
const MAX_WAITS = 20;
const WAIT_MS = 50;

/** Whose turn it is to write. */
const [NOBODYS, THREADS, OVER] = [0, 1, 2] as const;

/** Plain JavaScript, as threads do not see the files of the executable. Times are the thread's own. */
const THREAD = `
const { writeSync } = require("node:fs");
const { parentPort, workerData } = require("node:worker_threads");
const { turn, columns, afterMs, everyMs } = workerData;
let step, drawn;
parentPort.on("message", (message) => {
  step = message.what ? { ...message, began: performance.now() } : { ...step, ...message };
});
const clock = (ms) => Math.floor(ms / 60000) + ":" + String(Math.floor(ms / 1000) % 60).padStart(2, "0");
const line = () => {
  const { what, began, done } = step;
  const ms = performance.now() - began;
  const isShare = typeof done === "number";
  const parts = [clock(ms)];
  if (done !== undefined) parts.unshift(isShare ? Math.floor(done * 100) + " %" : done);
  if (done > 0.02 && done < 1 && ms > 3000) parts.push("about " + clock(ms / done - ms) + " left");
  if (columns === null) return what + ": " + parts.join(", ") + "\\n";
  const bar = isShare ? "█".repeat(done * 20).padEnd(20, "░") + " " : "";
  return "\\r\\x1b[K" + (what + " " + bar + parts.join(", ")).slice(0, columns - 1);
};
const draw = () => {
  if (!step || Atomics.compareExchange(turn, 0, ${NOBODYS}, ${THREADS}) !== ${NOBODYS}) return;
  try {
    const text = line();
    if (text !== drawn) writeSync(2, text);
    drawn = text;
    turn[1] = 1;
  } catch {} // Nobody reads it, or not that fast.
  Atomics.store(turn, 0, ${NOBODYS});
  Atomics.notify(turn, 0);
};
setTimeout(() => { draw(); setInterval(draw, everyMs); }, afterMs);
`;

/** @param turn whose turn it is, and whether anything was drawn */
interface Shown {
  readonly worker: Worker;
  readonly turn: Int32Array;
  readonly isTerminal: boolean;
}

/** A process has one standard error. */
let shown: Shown | undefined;

function start(columns: number | null, afterMs: number, everyMs: number): Shown | undefined {
  const turn = new Int32Array(new SharedArrayBuffer(8));
  try {
    const worker = new Worker(THREAD, {
      eval: true,
      workerData: { turn, columns, afterMs, everyMs },
      // Options of the process are not meant for the thread.
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: 8, maxYoungGenerationSizeMb: 1 },
      name: "reckon-progress",
    });
    // Without the display the work is done all the same.
    worker.on("error", () => {}).unref();
    return { worker, turn, isTerminal: columns !== null };
  } catch {
    return undefined;
  }
}

/**
 * Shows steps until something else is printed.
 * @param columns of the terminal; null where standard error is none
 */
export const stepsOn =
  (columns: number | null, afterMs: number, everyMs: number): Steps =>
  (what) => {
    shown ??= start(columns, afterMs, everyMs);
    if (!shown) return unwatched(what);
    const { worker } = shown;
    worker.postMessage({ what });
    let last = Number.NEGATIVE_INFINITY;
    return (done) => {
      const now = performance.now();
      if (now - last < REPORTED_EVERY_MS) return;
      last = now;
      worker.postMessage({ done });
    };
  };

/** Steps on this process's standard error. */
export const processSteps: Steps = (what) => {
  const { isTTY, columns } = process.stderr;
  const steps = isTTY
    ? stepsOn(columns || 80, DRAWN_AFTER_MS, DRAWN_EVERY_MS)
    : stepsOn(null, LOGGED_EVERY_MS, LOGGED_EVERY_MS);
  return steps(what);
};

/** Takes the line away, before anything else is printed. */
export function endSteps(): void {
  if (!shown) return;
  const { worker, turn, isTerminal } = shown;
  shown = undefined;
  for (let waits = 0; waits < MAX_WAITS; waits++) {
    if (Atomics.compareExchange(turn, 0, NOBODYS, OVER) !== THREADS) break;
    Atomics.wait(turn, 0, THREADS, WAIT_MS);
  }
  if (isTerminal && turn[1] === 1) process.stderr.write("\r\x1b[K");
  void worker.terminate();
}
