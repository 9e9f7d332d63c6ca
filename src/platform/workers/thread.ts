import { parentPort } from "node:worker_threads";
import type { FromThread, ToThread } from "./messages.ts";
import { failureOf } from "./messages.ts";

/** What came of a job, and which of its memory goes along with it instead of being copied. */
export interface Made {
  readonly made: unknown;
  readonly transfer?: ArrayBuffer[];
}

/** Work that a thread can do. @param ask asks the thread that gave the work; one question at a time */
export type Work = (input: never, ask: (question: unknown) => Promise<unknown>) => Promise<Made>;

/** Serves a pool from inside its thread: one job at a time, by name. */
export function serve(works: Readonly<Record<string, Work>>): void {
  const port = parentPort;
  if (!port) throw new Error("this is no thread of a pool");
  const post = (message: FromThread, transfer: ArrayBuffer[] = []) => port.postMessage(message, transfer);
  let answered: ((answer: unknown) => void) | undefined;
  const ask = (question: unknown) =>
    new Promise<unknown>((resolve) => {
      answered = resolve;
      post({ kind: "question", question });
    });
  port.on("message", async (message: ToThread) => {
    if (message.kind === "answer") {
      answered?.(message.answer);
      return;
    }
    try {
      const work = works[message.name];
      if (!work) throw new Error(`no thread knows work called ${message.name}`);
      const { made, transfer } = await work(message.input as never, ask);
      post({ kind: "made", made }, transfer);
    } catch (error) {
      post({ kind: "failed", failure: failureOf(error) });
    }
  });
  post({ kind: "ready" });
}
