import type { Worker } from "node:worker_threads";
import type { Log } from "../../kit/log.ts";
import { Problem, unavailable } from "../../kit/problem.ts";
import { errorOf, type FromThread, type ToThread } from "./messages.ts";
import { FairQueue, type Payer } from "./queue.ts";

/** Work for another thread. */
export interface Job {
  readonly name: string;
  readonly payer: Payer;
  readonly input: unknown;
  /** Memory that moves with the input; nothing is left of it here once the work has begun. */
  readonly transfer?: readonly ArrayBuffer[];
  /** Answers what the work asks. */
  readonly answer?: (question: unknown) => unknown;
}

export interface PoolOptions {
  /** Threads at most; each starts when there is work that no other is free for. */
  readonly size: number;
  readonly start: () => Worker;
  /** How long one job may take. */
  readonly jobMs: number;
  readonly log: Log;
}

/** No thread could be started: the work was not begun, and is to be done by who asked for it. */
export class NoThreads extends Error {
  override readonly name = "NoThreads";
}

const interrupted = () =>
  new Problem(
    unavailable,
    "The server could not read what was sent. Nothing of this request was kept; send it again later.",
  );
const overdue = () =>
  new Problem(
    unavailable,
    "The server took too long to read what was sent. Nothing of this request was kept; send it again later, in smaller parts if need be.",
  );

interface Task {
  readonly job: Job;
  readonly resolve: (made: unknown) => void;
  readonly reject: (error: Error) => void;
}

interface Thread {
  readonly worker: Worker;
  isReady: boolean;
  task: Task | undefined;
  timer: NodeJS.Timeout | undefined;
}

/** Threads that take jobs one at a time, fairly; one that ends is replaced when there is work for it. */
export class Pool {
  readonly #options: PoolOptions;
  readonly #threads = new Set<Thread>();
  readonly #waiting = new FairQueue<Task>();
  /** Once a thread could not be started, or all are to end, none is started any more. */
  #isOpen = true;

  constructor(options: PoolOptions) {
    this.#options = options;
  }

  /** Whether it takes jobs. */
  get isOpen(): boolean {
    return this.#isOpen && this.#options.size > 0;
  }

  /** Jobs that wait for a thread. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** Threads that there are. */
  get threads(): number {
    return this.#threads.size;
  }

  /** Threads at work. */
  get busy(): number {
    return [...this.#threads].filter(({ task }) => task !== undefined).length;
  }

  /**
   * Has a job done. @returns what came of it
   * @throws what the work threw; NoThreads; Problem unavailable (503) when its thread ended, or it took too long
   */
  run(job: Job): Promise<unknown> {
    if (!this.isOpen) return Promise.reject(new NoThreads());
    return new Promise((resolve, reject) => {
      this.#waiting.push(job.payer, { job, resolve, reject });
      this.#hand();
    });
  }

  /** Ends all threads. What waits or is being done is refused. */
  async close(): Promise<void> {
    this.#isOpen = false;
    this.#rejectWaiting(interrupted);
    await Promise.all(
      [...this.#threads].map((thread) => {
        this.#release(thread)?.reject(interrupted());
        return this.#end(thread);
      }),
    );
  }

  /** Gives jobs to threads that are free, and starts one where none is. */
  #hand(): void {
    for (const thread of this.#threads) if (thread.isReady && !thread.task) this.#begin(thread);
    const starting = [...this.#threads].filter(({ isReady }) => !isReady).length;
    if (this.#isOpen && this.#waiting.length > starting && this.#threads.size < this.#options.size) this.#startThread();
  }

  #begin(thread: Thread): void {
    const task = this.#waiting.shift();
    if (!task) return;
    thread.task = task;
    // A thread without work keeps no process alive.
    thread.worker.ref();
    const { name, input, transfer = [] } = task.job;
    try {
      this.#post(thread, { kind: "work", name, input }, transfer);
    } catch (error) {
      this.#release(thread)?.reject(error as Error);
      return;
    }
    thread.timer = setTimeout(() => {
      this.#options.log.warn("job_overdue", { job: name, afterMs: this.#options.jobMs });
      this.#release(thread)?.reject(overdue());
      void this.#end(thread);
      this.#hand();
    }, this.#options.jobMs);
  }

  #post({ worker }: Thread, message: ToThread, transfer: readonly ArrayBuffer[] = []): void {
    worker.postMessage(message, transfer);
  }

  #startThread(): void {
    let worker: Worker;
    try {
      worker = this.#options.start();
    } catch (error) {
      this.#giveUp(error);
      return;
    }
    const thread: Thread = { worker, isReady: false, task: undefined, timer: undefined };
    this.#threads.add(thread);
    worker.on("message", (message: FromThread) => this.#took(thread, message));
    worker.on("error", (error) => this.#lost(thread, error));
    worker.on("exit", (code) => this.#lost(thread, new Error(`it ended with ${code}`)));
  }

  async #took(thread: Thread, message: FromThread): Promise<void> {
    if (message.kind === "ready") {
      thread.isReady = true;
      thread.worker.unref();
    } else if (message.kind === "question") {
      await this.#answer(thread, message.question);
      return;
    } else {
      const task = this.#release(thread);
      if (message.kind === "made") task?.resolve(message.made);
      else task?.reject(errorOf(message.failure));
    }
    this.#hand();
  }

  /** An answer that cannot be given ends the work: its thread waits for it in vain. */
  async #answer(thread: Thread, question: unknown): Promise<void> {
    const { task } = thread;
    try {
      const answer = await task?.job.answer?.(question);
      if (task && thread.task === task) this.#post(thread, { kind: "answer", answer });
    } catch (error) {
      if (thread.task !== task) return;
      this.#release(thread)?.reject(error as Error);
      void this.#end(thread);
      this.#hand();
    }
  }

  /** Takes its job away from a thread. */
  #release(thread: Thread): Task | undefined {
    const { task } = thread;
    clearTimeout(thread.timer);
    thread.task = undefined;
    thread.worker.unref();
    return task;
  }

  #lost(thread: Thread, cause: unknown): void {
    if (!this.#threads.delete(thread)) return;
    const task = this.#release(thread);
    if (!thread.isReady) this.#giveUp(cause);
    else {
      this.#options.log.error("worker_ended", { job: task?.job.name, cause: String(cause) });
      task?.reject(interrupted());
      this.#hand();
    }
  }

  #end(thread: Thread): Promise<number> {
    this.#threads.delete(thread);
    return thread.worker.terminate();
  }

  /** Where threads cannot be had, all is done without. */
  #giveUp(cause: unknown): void {
    this.#isOpen = false;
    this.#options.log.error("workers_unavailable", { cause: String(cause) });
    this.#rejectWaiting(() => new NoThreads());
  }

  #rejectWaiting(error: () => Error): void {
    for (let task = this.#waiting.shift(); task; task = this.#waiting.shift()) task.reject(error());
  }
}
