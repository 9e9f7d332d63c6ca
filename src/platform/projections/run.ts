import { setImmediate } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { type Core, slot } from "../../core.ts";
import { StoreUnavailable, storeTrouble } from "../../kit/errors.ts";
import { within } from "../../kit/within.ts";
import { causeText, type Job, startJobs } from "../jobs/jobs.ts";
import { asOne, MAX_CHANGES, type RowChange, together } from "./batches.ts";
import { recordFailure } from "./failures.ts";
import { giveWay } from "./precedence.ts";
import type { Batch, Projection } from "./projection.ts";
import { rows } from "./rows.ts";

/** Another process has done the same batch of work meanwhile: the changes are undone. */
class ConcurrentAdvance extends Error {}

/**
 * By projection what is in work, and how many wait for it; whether the instance is stopping: what it has not read yet, the next start
 * reads; and since when something that was delivered waits to be read, monotonic.
 */
const work = slot(() => ({
  running: new Map<string, Promise<void>>(),
  awaited: 0,
  halted: false,
  behindSince: undefined as number | undefined,
}));

/** For how long something that was delivered waits to be worked through, in milliseconds; 0 where all is. */
export function lagOf(core: Core): number {
  const { behindSince } = work(core);
  return behindSince === undefined ? 0 : core.clock.monotonic() - behindSince;
}

/** Where a projection stands: what it has read of its source, and how many parts of what follows are stored. */
interface Standing {
  readonly checkpoint: number;
  readonly part: number;
}

const standingOf = (core: Core, { name }: Projection): Standing =>
  rows(core.store).standing.get(name) ?? { checkpoint: 0, part: 0 };

/** The number of the last row of its source that a projection has read; 0 before the first. */
export const checkpointOf = (core: Core, projection: Projection): number => standingOf(core, projection).checkpoint;

/**
 * Forgets projections that a newer program no longer has, so that their tables can be emptied. Call inside a transaction.
 * @returns whether there were any
 */
export const forgetProjections = (core: Core, names: readonly string[]): boolean =>
  names.filter((name) => rows(core.store).remove.run(name).changes > 0).length > 0;

/**
 * Has projections read their sources from the beginning, as their tables were emptied. Call inside the transaction that does that; a batch
 * that is applied in it stores nothing and returns "more".
 * @returns whether any had read something
 */
export const restartProjections = (core: Core, names: readonly string[]): boolean =>
  names.filter((name) => rows(core.store).restart.run(name).changes > 0).length > 0;

/**
 * Brings a projection up to what its source held when this was called. Calls at the same time share the work.
 * @throws StoreUnavailable when nothing can be stored, or the instance is stopping
 */
export async function catchUp(core: Core, projection: Projection): Promise<void> {
  const state = work(core);
  state.awaited++;
  try {
    await bringUp(core, projection);
  } finally {
    state.awaited--;
  }
}

/** The same where nobody waits for it. */
async function bringUp(core: Core, projection: Projection): Promise<void> {
  const { running } = work(core);
  const before = running.get(projection.name);
  // A run under way may have read the source before the caller's rows were there. So it is awaited, and another follows.
  const own = (before ?? Promise.resolve()).catch(() => {}).then(() => follow(core, projection));
  running.set(projection.name, own);
  try {
    await own;
  } finally {
    if (running.get(projection.name) === own) running.delete(projection.name);
  }
}

/**
 * The same for somebody who cannot wait for ever, as long work there is after an upgrade. The work goes on.
 * @returns whether it was done in time
 * @throws StoreUnavailable as `catchUp` does
 */
export async function catchUpWithin(core: Core, projection: Projection, ms: number): Promise<boolean> {
  // Of a failure that comes too late tells whoever keeps the projection up to date.
  const done = catchUp(core, projection).then(() => true);
  return (await within(done, ms)) ?? false;
}

/** Requests that came meanwhile have their turn: transactions that follow one another at once would let nobody in. */
async function othersTurn(core: Core): Promise<void> {
  const state = work(core);
  await setImmediate();
  await giveWay(
    core,
    () => lagOf(core),
    () => state.awaited > 0 || state.halted,
  );
  if (state.halted) throw new StoreUnavailable("the server is stopping");
}

async function follow(core: Core, projection: Projection): Promise<void> {
  const failed = new Failed();
  for (;;) {
    await othersTurn(core);
    const from = standingOf(core, projection);
    try {
      const batch = await projection.next(core, from.checkpoint, failed.isAlone);
      if (!batch) return;
      await advance(core, projection, from, batch);
      failed.passed();
    } catch (error) {
      if (error instanceof ConcurrentAdvance) continue;
      if (!projection.skip || isTrouble(core, error)) throw error;
      if (failed.isPoison(from.checkpoint)) await skipPoison(core, projection, from.checkpoint, error);
    }
  }
}

/**
 * Tells a row that cannot be worked through from one that failed once: where a batch fails, what follows is read row by row for a while,
 * at first for one row, and for twice as many each time that a batch behind them fails again.
 */
class Failed {
  #alone = 0;
  #next = 1;
  #checkpoint: number | undefined;

  get isAlone(): boolean {
    return this.#alone > 0;
  }

  passed(): void {
    if (this.isAlone) this.#alone--;
  }

  /** Notes that what follows a checkpoint failed. @returns whether it did before, and now by itself */
  isPoison(checkpoint: number): boolean {
    if (this.isAlone && this.#checkpoint === checkpoint) {
      [this.#alone, this.#next] = [0, 1];
      return true;
    }
    if (!this.isAlone) [this.#alone, this.#next] = [this.#next, 2 * this.#next];
    this.#checkpoint = checkpoint;
    return false;
  }
}

/** The payer of their changes, so that long ones never share a transaction with changes that a request waits for. */
const PROJECTIONS = { team: "", credential: "projections" };

async function advance(core: Core, projection: Projection, from: Standing, batch: Batch): Promise<void> {
  const { name } = projection;
  const { to, apply, before = [], changes = [] } = batch;
  const { checkpoint } = from;
  let { part } = from;
  /** @returns whether that was all of the batch */
  const store = (change: () => "more" | undefined) =>
    core.store.write(() => {
      const sql = rows(core.store);
      if (sql.start.run(name).changes > 0) sql.forget.run(name);
      if (!isDeepStrictEqual(standingOf(core, projection), { checkpoint, part })) throw new ConcurrentAdvance();
      const isDone = change() !== "more";
      sql.stand.run({ name, checkpoint: isDone ? to : checkpoint, part: isDone ? 0 : part + 1 });
      return isDone;
    }, PROJECTIONS);
  const nextPart = () => {
    part++;
    return othersTurn(core);
  };
  const storePart = async (step: () => void) => {
    await store(() => {
      step();
      return "more";
    });
    await nextPart();
  };
  for await (const step of before) await storePart(step);
  let rest: readonly RowChange[] = [];
  for await (const some of together(changes)) {
    if (some.length === MAX_CHANGES) await storePart(asOne(some));
    else rest = some;
  }
  const finish = () => {
    asOne(rest)();
    return apply?.();
  };
  for (let last = finish; !(await store(last)); last = () => apply?.()) await nextPart();
}

/** Whether it is the store that fails rather than a row: then all waits until it is well again. */
function isTrouble({ store }: Core, error: unknown): boolean {
  return storeTrouble(error) !== undefined || !store.db.open;
}

/** Leaves out a row that failed twice, the second time by itself, where an operator sees it: in the log and by the doctor. */
async function skipPoison(core: Core, projection: Projection, checkpoint: number, error: unknown): Promise<void> {
  const { name } = projection;
  const from = standingOf(core, projection);
  if (from.checkpoint !== checkpoint) return;
  const to = projection.skip?.(core, from.checkpoint);
  if (to === undefined) throw error;
  try {
    await advance(core, projection, from, {
      to,
      apply() {
        recordFailure(core, name, to, error);
        return undefined;
      },
    });
  } catch (second) {
    if (second instanceof ConcurrentAdvance) return;
    throw second;
  }
  core.log.error("projection_skipped_poison", { projection: name, checkpoint: to, cause: causeText(error) });
}

/** Whether projections have read all that their sources hold; one look, inside a transaction. */
export const areCaughtUp = (core: Core, projections: readonly Projection[]): boolean =>
  projections.every((projection) => projection.skip?.(core, checkpointOf(core, projection)) === undefined);

/**
 * Row change: projections are past all that their sources hold. For rows that were brought together with what follows from them; call
 * in the transaction that stores both, having made sure that nothing else waited to be read.
 */
export function passOver(core: Core, projections: readonly Projection[]): void {
  for (const { name, newest } of projections) rows(core.store).pass.run({ name, checkpoint: newest?.(core) ?? 0 });
}

const LOOK_EVERY_MS = 250;

/** Tells what was delivered last: a number that grows with every delivery, had by one indexed question. */
export type NewestDelivery = (core: Core) => number;

/** Looks whether anything was delivered, and brings projections up to date then. */
function projectionsJob(projections: readonly Projection[], newestDelivery: NewestDelivery): Job {
  let seen: number | undefined;
  const failing = new Set<string>();
  const attempt = async (core: Core, projection: Projection): Promise<unknown> => {
    try {
      await bringUp(core, projection);
      failing.delete(projection.name);
      return undefined;
    } catch (error) {
      // Told once: a full disk stays full for longer than a quarter of a second.
      if (core.store.db.open && !work(core).halted && !failing.has(projection.name))
        core.log.warn("projection_failed", { projection: projection.name, cause: String(error) });
      failing.add(projection.name);
      return error;
    }
  };
  return {
    name: "projections",
    everyMs: LOOK_EVERY_MS,
    async run(core) {
      const now = newestDelivery(core);
      if (now === seen) return;
      work(core).behindSince ??= core.clock.monotonic();
      for (const projection of projections) {
        const error = await attempt(core, projection);
        // One that fails keeps no other waiting, unless nothing can be stored.
        if (error instanceof StoreUnavailable || !core.store.db.open) return;
      }
      if (failing.size > 0) return;
      seen = now;
      work(core).behindSince = undefined;
    },
  };
}

/**
 * Keeps projections up to date while the instance runs, a few times a second, so that taking a delivery waits for none of them.
 * @returns a function that stops it, and everybody else who catches up, and waits for the batch in work
 */
export function runProjections(
  core: Core,
  projections: readonly Projection[],
  newestDelivery: NewestDelivery,
): () => Promise<void> {
  work(core).halted = false;
  const stop = startJobs(core, [projectionsJob(projections, newestDelivery)]);
  return () => {
    work(core).halted = true;
    return stop();
  };
}
