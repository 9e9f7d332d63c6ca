import type { Core } from "../core.ts";
import { perOwner } from "../kit/memo.ts";
import { rows } from "./rows.ts";

/** A table that follows a source whose rows have growing numbers. */
export interface Derivation {
  /** Stands in the database; never reused for another meaning. A new name fills the table anew. */
  readonly name: string;
  /**
   * Reads what follows `position`, as much as is worked through in a few milliseconds.
   * @returns undefined when nothing follows
   */
  next(core: Core, position: number): Piece | undefined | Promise<Piece | undefined>;
}

/** What was read of the source, and what to make of it. */
export interface Piece {
  /** The number of the last row read; above the position that was handed in. */
  readonly to: number;
  /** Row changes; runs inside the transaction that stores the position. */
  readonly apply: () => void;
}

/** Another process has done the same piece of work meanwhile: the changes are undone. */
class Overtaken extends Error {}

const running = perOwner((_core: Core) => new Map<string, Promise<void>>());

const positionOf = (core: Core, { name }: Derivation): number => rows(core.store).position.get(name) ?? 0;

/**
 * Brings a derivation up to what its source held when this was called. Calls at the same time share the work.
 * @throws StoreUnavailable when nothing can be stored
 */
export async function catchUp(core: Core, derivation: Derivation): Promise<void> {
  const inWork = running(core);
  const before = inWork.get(derivation.name);
  // What runs already may have looked before the caller's rows were there: it is waited for, then looked again.
  const own = (before ?? Promise.resolve()).catch(() => {}).then(() => follow(core, derivation));
  inWork.set(derivation.name, own);
  try {
    await own;
  } finally {
    if (inWork.get(derivation.name) === own) inWork.delete(derivation.name);
  }
}

async function follow(core: Core, derivation: Derivation): Promise<void> {
  for (;;) {
    const from = positionOf(core, derivation);
    const piece = await derivation.next(core, from);
    if (!piece) return;
    try {
      await core.store.write(() => {
        const sql = rows(core.store);
        sql.start.run(derivation.name);
        if (sql.advance.run(piece.to, derivation.name, from).changes === 0) throw new Overtaken();
        piece.apply();
      });
    } catch (error) {
      if (!(error instanceof Overtaken)) throw error;
    }
    // Requests that came meanwhile have their turn.
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
}

/** Whether the source holds more than the derivation has read. */
export async function isBehind(core: Core, derivation: Derivation): Promise<boolean> {
  return (await derivation.next(core, positionOf(core, derivation))) !== undefined;
}

const LOOK_EVERY_MS = 250;

/**
 * Keeps derivations up to date while the instance runs: looks a few times a second whether anything was delivered, by one
 * indexed question, so that taking a delivery waits for none of them.
 * @returns a function that stops it and waits for the piece in work
 */
export function runDerivations(core: Core, derivations: readonly Derivation[]): () => Promise<void> {
  let seen: number | undefined;
  let round: Promise<void> | undefined;
  let failing = false;
  const look = async () => {
    const now = rows(core.store).lastDelivery.get() ?? 0;
    if (now === seen) return;
    for (const derivation of derivations) await catchUp(core, derivation);
    seen = now;
    failing = false;
  };
  const timer = setInterval(() => {
    round ??= look()
      .catch((error: unknown) => {
        // Told once: a full disk stays full for longer than a quarter of a second.
        if (core.store.db.open && !failing) core.log.warn("derivation_failed", { cause: String(error) });
        failing = true;
      })
      .finally(() => {
        round = undefined;
      });
  }, LOOK_EVERY_MS);
  timer.unref();
  return async () => {
    clearInterval(timer);
    await round;
  };
}
