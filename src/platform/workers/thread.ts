import { getPriority, setPriority } from "node:os";
import { parentPort } from "node:worker_threads";
import { type FromThread, failureOf, type Outcome, type ToThread } from "./messages.ts";

/** The result of a job, and the buffers in it that are handed over instead of copied. */
export interface Made {
  readonly made: unknown;
  readonly transfer?: ArrayBuffer[];
}

/** Work that a thread can do. @param ask asks the thread that gave the work; one question at a time */
export type Work = (input: never, ask: (question: unknown) => Promise<unknown>) => Promise<Made>;

/** The niceness added for threads: when there are fewer cores than threads, the main thread, which answers everybody, goes first. */
const NICENESS = 5;

/** Only Linux has a niceness for each thread (setpriority(2)); elsewhere it is the process's. */
function giveWay(): void {
  if (process.platform !== "linux") return;
  try {
    setPriority(Math.min(19, getPriority() + NICENESS));
  } catch {
    // Not permitted: all threads then have the same priority.
  }
}

/** Serves a pool from inside its thread: one job after the other, by name. */
export function serve(works: Readonly<Record<string, Work>>): void {
  const port = parentPort;
  if (!port) throw new Error("this is no thread of a pool");
  giveWay();
  const post = (message: FromThread, transfer: ArrayBuffer[] = []) => port.postMessage(message, transfer);
  let answered: ((answer: unknown) => void) | undefined;
  const ask = (index: number, question: unknown) =>
    new Promise<unknown>((resolve) => {
      answered = resolve;
      post({ kind: "question", index, question });
    });
  port.on("message", async (message: ToThread) => {
    if (message.kind === "answer") {
      answered?.(message.answer);
      return;
    }
    const outcomes: Outcome[] = [];
    const transfer: ArrayBuffer[] = [];
    for (const [index, { name, input }] of message.jobs.entries())
      try {
        const work = works[name];
        if (!work) throw new Error(`no thread knows work called ${name}`);
        const done = await work(input as never, (question) => ask(index, question));
        outcomes.push({ made: done.made });
        transfer.push(...(done.transfer ?? []));
      } catch (error) {
        outcomes.push({ failure: failureOf(error) });
      }
    try {
      post({ kind: "done", outcomes }, transfer);
    } catch (error) {
      post({ kind: "done", outcomes: outcomes.map(() => ({ failure: failureOf(error) })) });
    }
  });
  post({ kind: "ready" });
}
