import type { Core } from "../../core.ts";
import { DataDirectoryError } from "../../kit/errors.ts";
import { sha256Hex } from "../../kit/hash.ts";
import { newId } from "../../kit/ids.ts";
import { conflict, fail } from "../../kit/problem.ts";
import { type Steps, unwatched } from "../../kit/steps.ts";
import { type Actor, recordEvent, SYSTEM } from "../../platform/audit/audit.ts";
import { notify } from "../../platform/notices/notices.ts";
import type { Preparer } from "../../platform/store/store.ts";
import { requireGoing } from "./cut-short.ts";
import { holdOfNotes } from "./held-notes.ts";
import { type Hold, heldOf, readReason } from "./holds.ts";
import { type Erasure, journal, readJournal, readTarget, requireSound, type Target } from "./journal.ts";
import { lettingOthersIn } from "./letting-others-in.ts";
import { reclaim } from "./reclaim.ts";
import { type ErasureRow, requestedIn, rows } from "./rows.ts";
import { stepsOf } from "./steps.ts";
import { devicesOf, hasOf, namedOn, type Resolved, reachOf, teamsOf, withNamed } from "./targets.ts";

/** What went, by name. */
export type Counts = Readonly<Record<string, number>>;

/** An erasure, as the record tells of it. */
interface Recorded {
  readonly id: string;
  readonly kind: ErasureRow["kind"];
  readonly teamId: string | null;
  /** As it is stored; the audit has a digest of it. */
  readonly target: string;
  readonly reason: string;
  readonly counts?: Counts;
}

/** Row change: puts on record that something is erased, or was. Call in the transaction that notes it. */
export function recordErasure(
  core: Core,
  by: Actor,
  action: string,
  { id, kind, teamId, target, reason, counts }: Recorded,
): void {
  recordEvent(core, by, {
    action,
    teamId,
    target: { kind: "erasure", id, label: kind },
    detail: { reason, ...(counts ? { counts } : {}), target: sha256Hex(target) },
  });
}

/** @throws Problem naming the hold that keeps any of it */
export function requireNotHeld(core: Core, target: Target): void {
  const devices = new Set([...devicesOf(core, target), ...namedOn(target)]);
  for (const teamId of teamsOf(core, target)) {
    const holds = heldOf(core, teamId);
    const hold = holds.team ?? [...holds.devices].find(([id]) => devices.has(id) && hasOf(core, target, id))?.[1];
    if (hold) failHeld(hold);
  }
}

function failHeld({ id, kind, placedBy, reason }: Hold): never {
  return fail(
    conflict,
    `The hold ${id} keeps it (of a ${kind}, placed by ${placedBy}: ${reason}). Nothing was erased; release the hold first.`,
  );
}

/** The same of notes of commits that would go with it, whoever sent them. @throws Problem naming the hold that keeps one */
export async function requireNotesNotHeld(core: Core, target: Target): Promise<void> {
  const hold = await holdOfNotes(core, target);
  if (hold) failHeld(hold);
}

/**
 * Puts an erasure on record: in the database and beside it. From then on it is carried out, by this process or the next.
 * @throws Problem when a hold keeps any of it, or no reason is given
 */
export async function requestErasure(
  core: Core,
  { target: asked, teamId }: Pick<Resolved, "target" | "teamId">,
  reason: string,
  by: Actor,
): Promise<Erasure> {
  const target = await withNamed(core, asked);
  const erasure: Erasure = {
    id: newId("era", core.clock, core.random),
    teamId,
    target,
    reason: readReason(reason),
    requestedBy: by.label,
    requestedAt: core.clock.now(),
  };
  await requireNotesNotHeld(core, target);
  await core.store.write(() => {
    requireNotHeld(core, target);
    note(core, erasure);
    recordErasure(core, by, "erasure.requested", recorded(erasure));
  });
  await journalAll(core);
  return erasure;
}

/**
 * Puts into the file beside the database what the database has on record, and the file lacks. Other processes do the same to the file, which
 * is read and written as a whole: whoever has the database to write in does it.
 */
const journalAll = (core: Core): Promise<void> =>
  core.store.write(() => journal(core.store.directory, rows(core.store).requested.all().map(read)));

const note = (core: Core, { target, ...erasure }: Erasure): boolean =>
  rows(core.store).insert.run({ ...erasure, kind: target.kind, target: JSON.stringify(target) }).changes === 1;

const recorded = ({ target, ...erasure }: Erasure): Recorded => ({
  ...erasure,
  kind: target.kind,
  target: JSON.stringify(target),
});

/**
 * Carries out an erasure that is on record, from where it stands.
 * @param onStep told what went with each transaction
 * @throws StoreUnavailable when nothing can be stored; it goes on with the next start
 */
export async function carryOut(
  core: Core,
  erasure: Erasure,
  onStep: (counts: Counts) => void = () => {},
  steps: Steps = unwatched,
): Promise<Counts> {
  const { id } = erasure;
  const before = rows(core.store).erasure.get(id)?.completedAt ?? null;
  await inSteps(core, id, stepsOf(core, erasure), onStep);
  const counts = await core.store.write(() => {
    const went = countsOf(core, id);
    // A server that started meanwhile carried it out, too.
    if (rows(core.store).complete.run({ id, at: core.clock.now(), before }).changes === 0) return went;
    recordErasure(core, SYSTEM, "erasure.completed", { ...recorded(erasure), counts: went });
    notifyDone(core, erasure);
    return went;
  });
  steps("taking what was erased from the files");
  await reclaim(core);
  return counts;
}

/** Row change. The same erasure is carried out again when a restored copy turns out to lack it. */
function notifyDone(core: Core, { id, target, teamId }: Erasure): void {
  const data = { erasure: id, kind: target.kind };
  notify(core, { type: "erasure.done", teamId, path: "/audit", data });
}

/**
 * Makes the steps of an erasure, each in a transaction that also counts what went.
 * @param onStep told what went with each transaction
 * @param onFirst a row change that goes along with the first that changes anything
 * @throws when the instance stops
 */
export async function inSteps(
  core: Core,
  id: string,
  steps: AsyncIterable<() => Counts>,
  onStep: (counts: Counts) => void = () => {},
  onFirst: () => void = () => {},
): Promise<void> {
  let isFirst = true;
  const letOthersIn = lettingOthersIn(core);
  for await (const step of steps) {
    const went = await core.store.write(() => {
      const before = rows(core.store).changes.get();
      const counted = step();
      if (isFirst && rows(core.store).changes.get() !== before) {
        onFirst();
        isFirst = false;
      }
      const some = Object.entries(counted).filter(([, count]) => count > 0);
      if (some.length === 0) return counted;
      const total: Record<string, number> = { ...countsOf(core, id) };
      for (const [name, count] of some) total[name] = (total[name] ?? 0) + count;
      rows(core.store).setCounts.run(JSON.stringify(total), id);
      return counted;
    });
    onStep(went);
    requireGoing(core);
    await letOthersIn();
  }
}

/** How much an erasure took so far, by kind. */
export const countsOf = (core: Core, id: string): Counts =>
  JSON.parse(rows(core.store).erasure.get(id)?.counts ?? "{}") as Counts;

/**
 * Puts on record what the file beside the database tells and the database does not, because a backup was restored.
 * @returns all that is on record and not done
 */
export async function readOpen(core: Core): Promise<readonly Erasure[]> {
  const { directory } = core.store;
  for (const entry of readJournal(directory))
    if (!rows(core.store).erasure.get(entry.id))
      await core.store.write(() => {
        if (note(core, entry)) recordErasure(core, SYSTEM, "erasure.replayed", recorded(entry));
      });
  await journalAll(core);
  const requested = rows(core.store).requested.all();
  return requested.filter(({ completedAt }) => completedAt === null).map(read);
}

/** What was asked for and is done since an instant. */
export const erasuresDoneSince = (core: Core, since: number): Erasure[] =>
  rows(core.store)
    .requested.all()
    .filter(({ completedAt }) => completedAt !== null && completedAt >= since)
    .map(read);

const read = ({ id, teamId, target, reason, requestedBy, requestedAt }: ErasureRow): Erasure => ({
  id,
  teamId,
  target: readTarget(target) ?? failAltered(id),
  reason,
  requestedBy,
  requestedAt,
});

function failAltered(id: string): never {
  throw new DataDirectoryError(
    `what the erasure ${id} is of was altered in the database: "reckon ledger verify" tells what else was, and "reckon restore" goes back`,
  );
}

/**
 * The same for a database that gives way to another, and that no process has open: what was killed before it did that is not lost with it.
 * @param db of whatever schema; where it cannot be read, what the file has is all that is known
 */
export function journalBeforeReplaced(directory: string, db: Preparer): void {
  let known: readonly Erasure[];
  try {
    known = requestedIn(db).map(read).map(requireSound);
  } catch {
    return;
  }
  journal(directory, known);
}

/** What became of an erasure that was asked for. */
export interface ErasureState extends Erasure {
  readonly counts: Counts;
  /** Milliseconds since the epoch; null while it is carried out. */
  readonly completedAt: number | null;
}

/** What was asked to be erased of a team, or of people whose devices are in it, newest first. @param most rows looked at */
export const erasuresOf = (core: Core, teamId: string, most: number): ErasureState[] =>
  rows(core.store)
    .newest.all(teamId, most)
    .map((row) => ({ ...read(row), counts: JSON.parse(row.counts) as Counts, completedAt: row.completedAt }))
    .filter((one) => one.teamId === teamId || teamsOf(core, one.target).includes(teamId));

/** An erasure as it is noted in the database, which tells less surely of it than the audit. */
export interface NotedErasure extends Pick<ErasureRow, "kind" | "teamId" | "counts" | "completedAt"> {
  /** What the audit has of its target. */
  readonly targetSha256: string;
  readonly reach: () => ReturnType<typeof reachOf>;
}

/** An erasure of whatever ground; undefined where none is noted. */
export function notedErasure(core: Core, id: string): NotedErasure | undefined {
  const row = rows(core.store).erasure.get(id);
  if (!row) return undefined;
  const { kind, teamId, counts, completedAt, target } = row;
  return { kind, teamId, counts, completedAt, targetSha256: sha256Hex(target), reach: () => reachOf(core, target) };
}

/** What erasures are not through with. */
export const openErasures = {
  /**
   * How many were asked for and are not done. A restored copy knows nothing of those that the file beside it alone tells.
   * @param noted whether the database has a table of them; an older one does not
   * @throws DataDirectoryError when that file cannot be read
   */
  unfinished(core: Core, noted: boolean): number {
    const journalled = readJournal(core.store.directory);
    if (!noted) return journalled.length;
    const { unfinished, erasure } = rows(core.store);
    const open = unfinished.all().filter(({ kind }) => kind !== "retention");
    return open.length + journalled.filter(({ id }) => !erasure.get(id)).length;
  },

  /** Since when something of what was erased may stand in the files; undefined where nothing does. */
  unreclaimedSince: (core: Core): number | undefined => rows(core.store).unreclaimed.get()?.completedAt,
};
