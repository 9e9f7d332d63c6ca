import { type Core, slot } from "../../core.ts";
import { listTeams } from "../../identity/teams/teams.ts";
import { deriveAll } from "../../insight/derived/derived.ts";
import { spendFacts } from "../../insight/spend/spend.ts";
import { SECOND_MS } from "../../kit/clock.ts";
import { sha256 } from "../../kit/hash.ts";
import { fail, unavailable } from "../../kit/problem.ts";
import { cooperative } from "../../kit/yield.ts";
import type { Job } from "../../platform/jobs/jobs.ts";
import { counter } from "../../platform/metrics/metrics.ts";
import { sealedBlocks } from "../../record/telemetry/telemetry.ts";
import { atOnce } from "./at-once.ts";
import { folderOf } from "./day.ts";
import { fileOfDevices, filesOfFolder, filesOfTexts } from "./make.ts";
import { blockPath, dayPath, devicesPath, folderRange } from "./paths.ts";
import type { Place } from "./place.ts";
import { placeOf } from "./places.ts";
import { type Mark, rows } from "./rows.ts";
import { deviceRows, SOURCES } from "./sources.ts";
import type { Made } from "./work-types.ts";

/** Blocks that are put at once, noted in one transaction. */
const BATCH_BLOCKS = 8;
/** Between which it is looked whether something is to be taken away. */
const SLICE_MARKS = 200;
const LOOK_EVERY_MS = SECOND_MS;
/** Rows changed in one transaction. */
const MAX_ROWS = 1_000;

export const objects = counter("reckon_lake_objects_total", "Objects of the lake that were written or taken away.");

/** When this process was done last, how many objects it wrote or took away, and what ends a run that goes on. */
const turn = slot(() => ({
  moved: 0,
  doneAt: Number.NEGATIVE_INFINITY,
  ending: new AbortController(),
  running: Promise.resolve(),
}));

/**
 * Brings to the lake what was sealed and what changed, and takes away what is gone. Each object is noted before it is put, and a day
 * is done when nothing of it changed meanwhile: whatever ends it, it is gone on with, and what is put twice is the same under one name.
 */
export const lakeJob: Job = {
  name: "lake",
  everyMs: LOOK_EVERY_MS,
  progress: (core) => turn(core).moved,
  stop: (core) => turn(core).ending.abort(),
  async run(core) {
    const at = turn(core);
    if (core.config.lake === null || core.clock.monotonic() - at.doneAt < core.config.lakeEvery) return;
    try {
      await flow(core);
    } catch (error) {
      // What the end of the server cut off is no failure.
      if (!at.ending.signal.aborted) throw error;
    }
    at.doneAt = core.clock.monotonic();
  },
};

/** One run at a time. @throws Error when the lake cannot be reached; what is done by then stays done */
export function flow(core: Core): Promise<void> {
  const at = turn(core);
  const run = at.running.then(() => flowOnce(core, at.ending.signal));
  at.running = run.catch(() => {});
  return run;
}

async function flowOnce(core: Core, ending: AbortSignal): Promise<void> {
  const place = placeOf(core, ending);
  if (!place) return;
  const startedAt = core.clock.now();
  const upTo = sealedBlocks.last(core);
  // Days are noted as what was delivered is worked through: else it would be said to be there before it is.
  await deriveAll(core);
  await claim(core, place);
  await requireMounted(core, place);
  const run = new Run(core, place, ending);
  do {
    await run.removeGone();
    await run.writeDays();
  } while (!ending.aborted && (await run.putBlocks(upTo)));
  await run.writeDevices();
  if (!ending.aborted) await core.store.write(() => rows(core.store).setCurrent.run(startedAt));
}

/** Notes where the lake is. Another place has nothing yet: all goes there. New prices concern all that was spent. */
async function claim(core: Core, { name }: Place): Promise<void> {
  const sql = rows(core.store);
  const before = sql.place.get();
  const prices = spendFacts.prices(core);
  if (before?.place === name && before.prices === prices) return;
  if (before?.place !== name) {
    // A name that is none until the end: from here on triggers note what changes, and what ends in between begins anew.
    await core.store.write(() => sql.putPlace.run(`${name} `, shardOf(core), prices));
    while (await core.store.write(() => sql.dropObjects.run(MAX_ROWS).changes > 0));
    await markAll(core);
    await core.store.write(() => sql.putPlace.run(name, shardOf(core), prices));
    return;
  }
  await markAll(core, ["spend"]);
  await core.store.write(() => sql.setPrices.run(prices));
}

/**
 * @throws Problem where nothing is left of what was put: what is erased would stay on the disk that is missing, and what is new not come
 *   to it; Error where it cannot be reached, also when nothing is to go there
 */
async function requireMounted(core: Core, place: Place): Promise<void> {
  if (!(await place.isEmpty()) || rows(core.store).hasWritten.get() === undefined) return;
  fail(
    unavailable,
    `${place.name} is empty or not there, and files were put there before: bring it back, or where they are gone for good, make it and run "reckon lake check --repair"`,
  );
}

/** Names of this installation's objects begin with it: others may write to the same lake. */
const shardOf = (core: Core) => rows(core.store).place.get()?.shard ?? core.random(5).toString("hex");

/** Has days written anew: all that there is anything of. */
export async function markAll(
  core: Core,
  kinds: readonly Mark["kind"][] = ["spend", "sessions", "errors"],
): Promise<void> {
  const yieldNow = cooperative(core.clock);
  for (const { id: teamId } of listTeams(core))
    for (const kind of kinds) {
      const days: string[] = [];
      for (const day of SOURCES[kind].folders(core, teamId)) {
        days.push(day);
        await yieldNow();
      }
      for (let at = 0; at < days.length; at += MAX_ROWS)
        await core.store.write(() => {
          for (const day of days.slice(at, at + MAX_ROWS)) rows(core.store).mark.run({ kind, teamId, day });
        });
    }
}

/** An object on its way. */
interface Sent extends Made {
  readonly path: string;
  readonly blockId: number | null;
}

class Run {
  readonly #core: Core;
  readonly #place: Place;
  readonly #ending: AbortSignal;
  readonly #shard: string;

  constructor(core: Core, place: Place, ending: AbortSignal) {
    this.#core = core;
    this.#place = place;
    this.#ending = ending;
    this.#shard = rows(core.store).place.get()?.shard ?? "";
  }

  /** Takes away the objects of blocks that are gone, as they are when something of them was erased. */
  async removeGone(): Promise<void> {
    const sql = rows(this.#core.store);
    for (;;) {
      const gone = sql.gone.all(SLICE_MARKS);
      if (gone.length === 0 || this.#ending.aborted) return;
      await atOnce(gone, async (blockId) => {
        for (const path of sql.ofBlock.all(blockId)) await this.#remove(path);
      });
      await this.#core.store.write(() => {
        for (const blockId of gone) sql.dropGone.run(blockId);
      });
    }
  }

  /** Writes the days that something changed of, each once; what changes meanwhile is for the next time. */
  async writeDays(): Promise<void> {
    let place = { kind: "", teamId: "", day: "" };
    while (!this.#ending.aborted) {
      const marks = rows(this.#core.store).marksAfter.all({ ...place, count: SLICE_MARKS });
      const last = marks.at(-1);
      if (!last) return;
      place = last;
      await atOnce(marks, (mark) => this.#writeDay(mark));
    }
  }

  async #writeDay(mark: Mark): Promise<void> {
    if (this.#ending.aborted) return;
    const sql = rows(this.#core.store);
    const { kind, teamId, day } = mark;
    const left = new Set(sql.within.all(...folderRange(kind, teamId, day, this.#shard)).map(({ path }) => path));
    // Prices may change and change back before the next turn compares them: what was written at others is written again.
    const isPriced = () => kind !== "spend" || spendFacts.prices(this.#core) === sql.place.get()?.prices;
    const isPricedFirst = isPriced();
    let number = 0;
    for await (const made of filesOfFolder(this.#core, this.#shard, mark)) {
      const path = dayPath(kind, teamId, day, this.#shard, ++number);
      left.delete(path);
      await this.#note([{ ...made, path, blockId: null }]);
      await this.#put({ ...made, path, blockId: null });
      await this.#core.store.write(() => sql.written.run(this.#core.clock.now(), null, path));
    }
    for (const path of left) await this.#remove(path);
    if (isPricedFirst && isPriced()) await this.#core.store.write(() => sql.dropMark.run(mark));
  }

  /** Puts some blocks. @returns whether there are more @param upTo the last */
  async putBlocks(upTo: number): Promise<boolean> {
    const { store, clock } = this.#core;
    const sql = rows(store);
    const after = sql.place.get()?.lastBlock ?? 0;
    const sent: Sent[] = [];
    let [last, count] = [after, 0];
    for (; count < BATCH_BLOCKS; count++) {
      const blockId = sealedBlocks.next(this.#core, last);
      if (blockId === undefined || blockId > upTo) break;
      last = blockId;
      sent.push(...(await this.#objectsOf(blockId)));
    }
    if (last === after) return false;
    await this.#note(sent);
    await atOnce(sent, (one) => this.#put(one));
    const isDone = await store.write(() => {
      for (const { path } of sent) sql.written.run(clock.now(), null, path);
      return sql.advanceBlock.run(last, after).changes > 0;
    });
    return !isDone || count === BATCH_BLOCKS;
  }

  async #objectsOf(blockId: number): Promise<Sent[]> {
    const block = sealedBlocks.read(this.#core, blockId);
    if (!block) return [];
    const files = await filesOfTexts(this.#core, this.#shard, blockId, block);
    return files.map(({ day, ...made }) => {
      const path = blockPath(block.teamId, folderOf(day), this.#shard, blockId);
      return { ...made, path, blockId };
    });
  }

  /** Devices are few: whether anything of them changed is looked at each time. */
  async writeDevices(): Promise<void> {
    const { store, clock } = this.#core;
    const sql = rows(store);
    const yieldNow = cooperative(clock);
    for (const team of listTeams(this.#core)) {
      await yieldNow();
      if (this.#ending.aborted) return;
      const found = deviceRows(this.#core, this.#shard, team);
      const path = devicesPath(team.id, this.#shard);
      const digest = sha256(JSON.stringify(found));
      // Rows of devices are never taken away.
      if (found.length === 0 || sql.object.get(path)?.sourceSha256?.equals(digest)) continue;
      const made = await fileOfDevices(this.#core, team.id, found);
      await this.#note([{ ...made, path, blockId: null }]);
      await this.#put({ ...made, path, blockId: null });
      await store.write(() => sql.written.run(clock.now(), digest, path));
    }
  }

  #note(sent: readonly Sent[]): Promise<void> {
    return this.#core.store.write(() => {
      for (const { path, blockId, rows: count, bytes } of sent)
        rows(this.#core.store).note.run({ path, blockId, rows: count, bytes: bytes.length });
    });
  }

  async #put({ path, bytes }: Sent): Promise<void> {
    await this.#place.put(path, bytes);
    this.#moved("written");
  }

  async #remove(path: string): Promise<void> {
    await this.#place.remove(path);
    await this.#core.store.write(() => rows(this.#core.store).drop.run(path));
    this.#moved("removed");
  }

  #moved(outcome: string): void {
    turn(this.#core).moved++;
    objects.count(this.#core, { outcome });
  }
}
