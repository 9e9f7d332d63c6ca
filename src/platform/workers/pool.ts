import type { Worker } from "node:worker_threads";
import { FairQueue, type Payer } from "../../kit/fair-queue.ts";
import type { Log } from "../../kit/log.ts";
import { errorOf, type FromThread, type Outcome, type ToThread } from "./messages.ts";

/** Work for another thread. */
export interface Job {
  readonly name: string;
  readonly payer: Payer;
  readonly input: unknown;
  /**
   * Memory that moves to the thread instead of being copied; it is empty here once the work has begun. Such a job is a large one and has a
   * thread for itself. Other jobs are handed over several at a time, and one of several threads is reserved for them.
   */
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

/** No thread could be started: the work was not begun, and the caller has to do it. */
export class NoThreads extends Error {
  override readonly name = "NoThreads";
}

/** Work that was begun did not finish: its thread ended, it took too long, or the pool was closed. */
export class JobLost extends Error {
  override readonly name = "JobLost";
}

/**
 * Jobs that a thread gets at once, at most. Their outcomes come back at once, too, so that a group is stored together while the thread has
 * its next jobs.
 */
const MAX_BUNCH = 16;

interface Task {
  readonly job: Job;
  readonly resolve: (made: unknown) => void;
  readonly reject: (error: Error) => void;
  /** It was lost together with others, any of which may be at fault. It is tried once more, alone. */
  isSuspect: boolean;
}

const isAlone = ({ job, isSuspect }: Task) => isSuspect || job.transfer !== undefined;

interface Thread {
  readonly worker: Worker;
  isReady: boolean;
  tasks: readonly Task[];
  timer: NodeJS.Timeout | undefined;
}

/** Threads that take jobs, fairly; one that ends is replaced when there is work for it. */
export class Pool {
  readonly #options: PoolOptions;
  readonly #threads = new Set<Thread>();
  readonly #bunched = new FairQueue<Task>();
  readonly #alone = new FairQueue<Task>();
  /** Whose turn it is where both wait. */
  #isAloneNext = false;
  /** False once a thread could not be started, or the pool is closed: no thread is started any more. */
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
    return this.#bunched.length + this.#alone.length;
  }

  /** Threads that there are. */
  get threads(): number {
    return this.#threads.size;
  }

  /** Threads at work. */
  get busy(): number {
    return [...this.#threads].filter(({ tasks }) => tasks.length > 0).length;
  }

  /** Runs a job. @returns its result */
  run(job: Job): Promise<unknown> {
    if (!this.isOpen) return Promise.reject(new NoThreads());
    return new Promise((resolve, reject) => {
      this.#push({ job, resolve, reject, isSuspect: false });
      this.#hand();
    });
  }

  /** Ends all threads. Jobs that wait or are under way are refused. */
  async close(): Promise<void> {
    this.#isOpen = false;
    this.#rejectWaiting(() => new JobLost("no more work is done"));
    await Promise.all(
      [...this.#threads].map((thread) => {
        for (const task of this.#release(thread)) task.reject(new JobLost("no more work is done"));
        return this.#end(thread);
      }),
    );
  }

  #push(task: Task): void {
    (isAlone(task) ? this.#alone : this.#bunched).push(task.job.payer, task);
  }

  /** Gives jobs to threads that are free, and starts one where none is. */
  #hand(): void {
    for (const thread of this.#threads) if (thread.isReady && thread.tasks.length === 0) this.#begin(thread);
    const starting = [...this.#threads].filter(({ isReady }) => !isReady).length;
    const due = this.#bunched.length + Math.min(this.#alone.length, this.#leftAlone);
    if (this.#isOpen && due > starting && this.#threads.size < this.#options.size) this.#startThread();
  }

  /**
   * How many more jobs may have a thread for themselves. One thread is left over, so that small jobs do not wait behind large ones
   * everywhere.
   */
  get #leftAlone(): number {
    const taken = [...this.#threads].filter(({ tasks: [first] }) => first && isAlone(first)).length;
    return Math.max(1, this.#options.size - 1) - taken;
  }

  #begin(thread: Thread): void {
    const tasks = this.#takeBunch();
    if (tasks.length === 0) return;
    thread.tasks = tasks;
    // A thread without work keeps no process alive.
    thread.worker.ref();
    const jobs = tasks.map(({ job: { name, input } }) => ({ name, input }));
    try {
      this.#post(thread, { kind: "jobs", jobs }, tasks[0]?.job.transfer);
    } catch (error) {
      for (const task of this.#release(thread)) task.reject(error as Error);
      return;
    }
    thread.timer = setTimeout(() => {
      this.#options.log.warn("job_overdue", { job: jobs[0]?.name, afterMs: this.#options.jobMs });
      this.#lose(this.#release(thread), "it took too long");
      void this.#end(thread);
      this.#hand();
    }, this.#options.jobMs);
  }

  /**
   * The next jobs for a thread: a large one, or several small ones, no more than leaves work for the other threads; large and small take
   * turns.
   */
  #takeBunch(): Task[] {
    if (this.#leftAlone > 0 && (this.#isAloneNext || this.#bunched.length === 0)) {
      const alone = this.#alone.shift();
      this.#isAloneNext = false;
      if (alone) return [alone];
    }
    this.#isAloneNext = true;
    const most = Math.min(MAX_BUNCH, Math.ceil(this.#bunched.length / this.#options.size));
    return Array.from({ length: most }, () => this.#bunched.shift() as Task);
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
    const thread: Thread = { worker, isReady: false, tasks: [], timer: undefined };
    this.#threads.add(thread);
    worker.on("message", (message: FromThread) => this.#took(thread, message));
    worker.on("error", (error) => this.#lost(thread, error));
    worker.on("exit", (code) => this.#lost(thread, new Error(`it ended with ${code}`)));
  }

  async #took(thread: Thread, message: FromThread): Promise<void> {
    if (message.kind === "question") {
      await this.#answer(thread, thread.tasks[message.index] as Task, message.question);
      return;
    }
    if (message.kind === "ready") {
      thread.isReady = true;
      thread.worker.unref();
    } else settle(this.#release(thread), message.outcomes);
    this.#hand();
  }

  /** Answers a question of a job. Without an answer the job is ended, since its thread would wait in vain. */
  async #answer(thread: Thread, task: Task, question: unknown): Promise<void> {
    const isCurrent = () => thread.tasks.includes(task);
    try {
      const answer = await task.job.answer?.(question);
      if (isCurrent()) this.#post(thread, { kind: "answer", answer });
    } catch (error) {
      if (!isCurrent()) return;
      const tasks = this.#release(thread);
      task.reject(error as Error);
      this.#lose(
        tasks.filter((other) => other !== task),
        "its thread ended",
      );
      void this.#end(thread);
      this.#hand();
    }
  }

  /** Takes its jobs away from a thread. */
  #release(thread: Thread): readonly Task[] {
    const { tasks } = thread;
    clearTimeout(thread.timer);
    thread.tasks = [];
    thread.worker.unref();
    return tasks;
  }

  /** Refuses a lost job; several lost together are each tried once more, alone. */
  #lose(tasks: readonly Task[], why: string): void {
    for (const task of tasks)
      if (task.isSuspect || tasks.length === 1 || !this.#isOpen) task.reject(new JobLost(why));
      else {
        task.isSuspect = true;
        this.#push(task);
      }
  }

  #lost(thread: Thread, cause: unknown): void {
    if (!this.#threads.delete(thread)) return;
    const tasks = this.#release(thread);
    if (!thread.isReady) this.#giveUp(cause);
    else {
      this.#options.log.error("worker_ended", { job: tasks[0]?.job.name, cause: String(cause) });
      this.#lose(tasks, "its thread ended");
      this.#hand();
    }
  }

  #end(thread: Thread): Promise<number> {
    this.#threads.delete(thread);
    return thread.worker.terminate();
  }

  /** Closes the pool when threads cannot be started: the callers do the work themselves. */
  #giveUp(cause: unknown): void {
    this.#isOpen = false;
    this.#options.log.error("workers_unavailable", { cause: String(cause) });
    this.#rejectWaiting(() => new NoThreads());
  }

  #rejectWaiting(error: () => Error): void {
    for (const queue of [this.#bunched, this.#alone])
      for (let task = queue.shift(); task; task = queue.shift()) task.reject(error());
  }
}

function settle(tasks: readonly Task[], outcomes: readonly Outcome[]): void {
  for (const [i, { resolve, reject }] of tasks.entries()) {
    const outcome = outcomes[i] as Outcome;
    if ("made" in outcome) resolve(outcome.made);
    else reject(errorOf(outcome.failure));
  }
}
