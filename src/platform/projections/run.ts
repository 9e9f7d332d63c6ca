import { setImmediate } from "node:timers/promises";
import { type Core, slot } from "../../core.ts";
import { StoreUnavailable, storeTrouble } from "../../kit/errors.ts";
import { within } from "../../kit/within.ts";
import { causeText, type Job, startJobs } from "../jobs/jobs.ts";
import { asOne, MAX_CHANGES, type RowChange, together } from "./batches.ts";
import { recordFailure } from "./failures.ts";
import { giveWay } from "./precedence.ts";
import type { Batch, Projection } from "./projection.ts";
import { rows } from "./rows.ts";
import { type Standing, standingOf, standsAt } from "./standing.ts";

/** Another process stored the same batch in the meantime: the changes are undone. */
class ConcurrentAdvance extends Error {}

/**
 * The last run of each projection, which may be under way (`runs`); the number of callers that wait for one (`awaited`); whether the
 * instance is stopping (`halted`), when the rest is left to the next start; and since when a delivery waits to be read, monotonic.
 */
const work = slot(() => ({
  runs: new Map<string, Promise<void>>(),
  awaited: 0,
  halted: false,
  behindSince: undefined as number | undefined,
}));

/** For how long the oldest unread delivery has waited, in milliseconds; 0 when all are read. */
export function lagOf(core: Core): number {
  const { behindSince } = work(core);
  return behindSince === undefined ? 0 : core.clock.monotonic() - behindSince;
}

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

/** As `catchUp`, when nobody waits for it. */
function bringUp(core: Core, projection: Projection): Promise<void> {
  const { runs } = work(core);
  const before = runs.get(projection.name) ?? Promise.resolve();
  // A run under way may have read the source before the caller's rows were there. So it is awaited, and another follows.
  const own = before.catch(() => {}).then(() => follow(core, projection));
  runs.set(projection.name, own);
  return own;
}

/**
 * As `catchUp`, for a caller who cannot wait for ever: after an upgrade there may be long work. The work goes on.
 * @returns whether it was done in time
 * @throws StoreUnavailable as `catchUp` does
 */
export async function catchUpWithin(core: Core, projection: Projection, ms: number): Promise<boolean> {
  // A failure that comes too late is reported by whoever keeps the projection up to date.
  const done = catchUp(core, projection).then(() => true);
  return (await within(done, ms)) ?? false;
}

/** Lets waiting requests have their turn: transactions that follow one another at once would let nobody in. */
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
  // What arrives from here on is left to the next run: it would be followed a row at a time, each with a sync of its own.
  const newest = projection.newest?.(core) ?? Number.POSITIVE_INFINITY;
  for (;;) {
    await othersTurn(core);
    const from = standingOf(core, projection);
    if (from.checkpoint >= newest) return;
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
 * Tells a row that always fails from one that failed once. After a batch fails, rows are read one by one for a while: at first one row, and
 * twice as many each time that a later batch fails.
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

  /** Notes a failure after a checkpoint. @returns whether the row there failed before, and now by itself */
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
  /** Stores a change and where the projection stands. @returns whether that was the end of the batch */
  const store = (change: () => "more" | undefined) =>
    core.store.write(() => {
      const sql = rows(core.store);
      if (sql.start.run(name).changes > 0) sql.forget.run(name);
      if (!standsAt(core, projection, { checkpoint, part })) throw new ConcurrentAdvance();
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

/** Whether the store fails and not a row: then all waits until the store is well again. */
function isTrouble({ store }: Core, error: unknown): boolean {
  return storeTrouble(error) !== undefined || !store.db.open;
}

/** Skips a row that failed twice, the second time by itself, and reports it to the operator: in the log and by the doctor. */
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

const LOOK_EVERY_MS = 250;

/** Gives a number that grows with every delivery, by one indexed query. */
export type NewestDelivery = (core: Core) => number;

/** Looks for new deliveries, and brings projections up to date then. */
function projectionsJob(projections: readonly Projection[], newestDelivery: NewestDelivery): Job {
  let seen: number | undefined;
  const failing = new Set<string>();
  const attempt = async (core: Core, projection: Projection): Promise<unknown> => {
    try {
      await bringUp(core, projection);
      failing.delete(projection.name);
      return undefined;
    } catch (error) {
      // Logged once: a full disk stays full for longer than a quarter of a second.
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
      const began = core.clock.monotonic();
      work(core).behindSince ??= began;
      for (const projection of projections) {
        const error = await attempt(core, projection);
        // A projection that fails does not stop the others, unless nothing can be stored.
        if (error instanceof StoreUnavailable || !core.store.db.open) return;
      }
      if (failing.size > 0) return;
      seen = now;
      // What came in meanwhile waits since then at most.
      work(core).behindSince = newestDelivery(core) === now ? undefined : began;
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
