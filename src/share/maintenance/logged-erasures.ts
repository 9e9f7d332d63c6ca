import type { Core } from "../../core.ts";
import { DAY_MS } from "../../kit/clock.ts";
import type { LedgerStep } from "../../log/log.ts";
import {
  type AuditStep,
  chainErased,
  EVENTS_ERASED,
  hashOfRest,
  NAMES_ERASED,
  NOTHING_ERASED,
} from "../../platform/audit/audit.ts";
import { epochs, findLeaf } from "../../platform/transparency/transparency.ts";
import { notedErasure } from "../erasure/erasure.ts";
import { Arrivals } from "./arrivals.ts";

/** A note of an erasure that nothing in the log backs. */
export interface Unbacked {
  /** 0 where it is of no leaf. */
  readonly leaf: number;
  readonly detail: string;
}

type Event = NonNullable<AuditStep["event"]>;
type Noted = NonNullable<ReturnType<typeof notedErasure>>;
type Delivery = LedgerStep["row"];

/** An erasure, as events of the log tell of it. */
interface Logged {
  readonly kind: string | null;
  readonly teamId: string | null;
  /** The leaf with which it was asked for, where it goes by that. */
  readonly requested: number;
  /** The leaf of its last event. */
  last: number;
  isDone: boolean;
  /** The digest of its target; undefined where an earlier version told of it, which stated nothing. */
  target: string | undefined;
  isOld: boolean;
  /** Of retention: when each event was recorded, and for how many days each kind is kept by it. */
  readonly runs: { readonly at: number; readonly days: ReadonlyMap<string, number> }[];
}

export const NO_ERASURE = "it is said to be erased, by no erasure on record";
const DONE: ReadonlySet<string> = new Set(["erasure.completed", "retention.run"]);

/** Kinds of erasure after which more may come of the same thing, which is new. */
const GOING_ON: ReadonlySet<string> = new Set(["session", "entry", "repo"]);

/** A clock may have been set back while retention ran. */
const CLOCK_SLACK_MS = DAY_MS;

/** What went of a team's events, and what of it is stated. */
class ErasedOfTeam {
  #chain = NOTHING_ERASED;
  /** Those that no statement covers, as far as they were looked at. */
  uncovered: number[] = [];
  /** The last that one covers. */
  last = 0;

  take(leaf: number, sha256: Buffer, stated: { readonly leaf: number; readonly chain: string } | undefined): void {
    this.uncovered.push(leaf);
    this.#chain = chainErased(this.#chain, sha256);
    if (!stated || leaf >= stated.leaf || this.#chain.toString("hex") !== stated.chain) return;
    this.last = leaf;
    this.uncovered = [];
  }

  /** What an earlier version's runs tell of, which stated nothing. */
  coverBefore(leaf: number): void {
    for (const one of this.uncovered) if (one < leaf) this.last = Math.max(this.last, one);
    this.uncovered = this.uncovered.filter((one) => one > leaf);
  }
}

/**
 * Whether what is noted as erased was: the log tells of erasures when they are asked for and done, and of what they do to events when they
 * do it. Take all steps of the audit, then ask.
 */
export class LoggedErasures {
  readonly #core: Core;
  readonly #isExcerpt: boolean;
  readonly #erasures = new Map<string, Logged>();
  /** Hashes of events as they are since names were removed, as `TEAM HASH`, each with the leaf that states it. */
  readonly #rest = new Map<string, number>();
  readonly #chains = new Map<string, { readonly leaf: number; readonly chain: string }>();
  readonly #erased = new Map<string, ErasedOfTeam>();
  readonly #rewritten: { readonly leaf: number; readonly teamId: string | null; readonly hash: string | undefined }[] =
    [];
  /** Runs of earlier versions that let events go, by team: the last of each. */
  readonly #oldRuns = new Map<string, number>();
  readonly #arrivals: Arrivals;
  readonly #unbacked: Unbacked[] = [];
  /** What erasures reach, by their ids. */
  readonly #reach = new Map<string, (row: Delivery) => boolean>();
  /** From which leaf on erasures state what they do. */
  #statedFrom: number;

  /** @param isExcerpt of one team, apart from its instance: what the installation's own events tell is not in it */
  constructor(core: Core, isExcerpt: boolean) {
    this.#core = core;
    this.#isExcerpt = isExcerpt;
    this.#arrivals = new Arrivals(core);
    this.#statedFrom = statedFrom(core);
  }

  take({ leaf, holds, event, isErased, teamId }: AuditStep): void {
    if (!event) {
      this.#takeErased(leaf, teamId);
      return;
    }
    if (!holds) return;
    if (isErased) this.#rewritten.push({ leaf, teamId, hash: hashOfRest(this.#core, event) });
    if (event.targetKind !== "erasure" || event.targetId === null) return;
    const detail = JSON.parse(event.detail) as Record<string, unknown>;
    if (event.action !== NAMES_ERASED && event.action !== EVENTS_ERASED)
      this.#takeErasure(event, event.targetId, detail);
    // Statements never name anybody: an event that names were removed from cannot be one.
    else if (!isErased) this.#takeStatement(event, detail);
  }

  #takeStatement({ leaf, teamId, action }: Event, detail: Record<string, unknown>): void {
    if (action === EVENTS_ERASED) this.#chains.set(`${teamId}`, { leaf, chain: String(detail.chain) });
    else for (const hash of detail.hashes as string[]) this.#rest.set(`${teamId} ${hash}`, leaf);
  }

  #takeErasure(event: Event, id: string, { target, reason, counts }: Record<string, unknown>): void {
    const { leaf, teamId, action, targetLabel, at } = event;
    const isOld = target === undefined;
    const known = this.#erasures.get(id);
    const runs = [...(known?.runs ?? []), { at, days: daysOf(String(reason)) }];
    const isRequest = action === "erasure.requested" && !isOld && GOING_ON.has(`${targetLabel}`);
    // A restored copy has it replayed, and goes by the clock.
    const requested = isRequest ? leaf : action === "erasure.replayed" ? undefined : known?.requested;
    this.#erasures.set(id, {
      requested: requested ?? Number.POSITIVE_INFINITY,
      ...{ kind: targetLabel, teamId, last: leaf, isDone: DONE.has(action), runs },
      target: isOld ? known?.target : String(target),
      isOld: isOld || known?.isOld === true,
    });
    if (!isOld) this.#statedFrom = Math.min(this.#statedFrom, leaf);
    if (isOld && action === "retention.run" && (counts as { events?: number } | undefined)?.events)
      this.#oldRuns.set(`${teamId}`, leaf);
  }

  #takeErased(leaf: number, teamId: string | null): void {
    if (teamId === null) {
      this.#unbacked.push({ leaf, detail: "it is noted as erased, and no retention reaches what is of no team" });
      return;
    }
    const of = this.#erased.getOrInsertComputed(teamId, () => new ErasedOfTeam());
    of.take(leaf, findLeaf(this.#core, leaf) ?? Buffer.alloc(0), this.#chains.get(teamId));
  }

  /** Notes at events that nothing backs. Call once, after the last step. */
  *atEvents(): Generator<Unbacked> {
    yield* this.#unbacked;
    for (const [teamId, of] of this.#erased) {
      const oldRun = this.#chains.has(teamId) ? undefined : this.#oldRuns.get(teamId);
      if (oldRun !== undefined) of.coverBefore(oldRun);
      const [leaf, ...more] = of.uncovered;
      const others = more.length > 0 ? ` (and ${more.length} more of its team)` : "";
      if (leaf !== undefined)
        yield { leaf, detail: `it is noted as erased, but the log has no erasure that covers it${others}` };
    }
    for (const { leaf, teamId, hash } of this.#rewritten) {
      if (hash !== undefined && (this.#rest.get(`${teamId} ${hash}`) ?? 0) > leaf) continue;
      if (hash === undefined && (this.#isExcerpt || this.#arrivals.takeUnstated(leaf) || this.#isBeforeOld(leaf)))
        continue;
      yield { leaf, detail: "it is noted that names were erased from it, but the log does not say so" };
    }
  }

  /** Whether an erasure of an earlier version may have taken names out of an event, which stated nothing. */
  #isBeforeOld(leaf: number): boolean {
    return [...this.#erasures.values()].some(
      ({ kind, isOld, isDone, last }) => isOld && (kind === "person" || kind === "device") && (!isDone || leaf < last),
    );
  }

  /** Whether a delivery is said to have come from another log, and with no import: its leaf would be made of what stands beside it. */
  isNoArrival({ id, movedFrom }: Delivery): boolean {
    return movedFrom !== null && !this.#isExcerpt && !this.#arrivals.has(id);
  }

  /** Why nothing backs that something of a delivery is erased; undefined where the log does. Call after `atEvents`. */
  atDelivery(row: Delivery): string | undefined {
    const { erasedBy } = row;
    if (erasedBy !== null) return this.#byErasure(row, erasedBy);
    // Where only some sessions of it went, it is not marked: that is told by what was forgotten of it.
    if (row.itemSalts === null || this.#mayBeReached(row)) return undefined;
    return "something of it was forgotten, as by an erasure, and the log tells of none that reaches it";
  }

  #mayBeReached(row: Delivery): boolean {
    const isUntold = this.#isExcerpt || this.#arrivals.has(row.id) || row.id < this.#statedFrom;
    if (isUntold || (this.#erased.get(row.teamId)?.last ?? 0) > row.id) return true;
    return this.#erasures.keys().some((id) => this.#byErasure(row, id) === undefined);
  }

  #byErasure(row: Delivery, erasedBy: string): string | undefined {
    const { id } = row;
    const noted = notedErasure(this.#core, erasedBy);
    if (!noted) return NO_ERASURE;
    const logged = this.#erasures.get(erasedBy);
    // Where a restore repeated it before its team came (again), the log tells of that too, which was before.
    if (!logged || (noted.teamId === null && this.#arrivals.isErasure(id, erasedBy)))
      return this.#isUntold(row, erasedBy, noted)
        ? undefined
        : "it is said to be erased, by an erasure that the log does not tell of";
    const reach = this.#reach.getOrInsertComputed(erasedBy, () => this.#reachOf(logged, noted));
    if (logged.isDone && id > logged.last) return "it is said to be erased, by an erasure that was done before it came";
    // With a session all of it goes, also labels that came after the erasure was requested.
    if (id > logged.requested && row.kind !== "traces")
      return "it is said to be erased, by an erasure that was asked for before it came";
    return reach(row) ? undefined : "it is said to be erased, by an erasure of something else";
  }

  /** What an erasure reaches; nothing where what is noted of it is not what the log tells. */
  #reachOf({ kind, teamId, target, runs }: Logged, noted: Noted): (row: Delivery) => boolean {
    if (kind !== noted.kind) return () => false;
    const isIn = (row: Delivery) => teamId === null || teamId === row.teamId;
    if (kind === "retention") return (row) => isIn(row) && runs.some((run) => isOld(row, run));
    // Only what is as it was told can be relied on to be read.
    let reaches: ((row: Delivery) => boolean) | undefined;
    const isReached = (row: Delivery) => {
      reaches ??= noted.reach();
      return reaches(row);
    };
    const isAsTold = target === undefined || target === noted.targetSha256;
    // A team takes along what a target has of it.
    return (row) => isIn(row) && (isAsTold || this.#arrivals.has(row.id)) && isReached(row);
  }

  /** Whether an erasure may well have been without the log telling of it, or telling still. */
  #isUntold(row: Delivery, erasureId: string, noted: Noted): boolean {
    const { id, teamId, kind } = row;
    // What told of it was let go with other old events.
    if (noted.teamId !== null && noted.teamId === teamId && (this.#erased.get(teamId)?.last ?? 0) > id) return true;
    // It came with its team from where events of the installation tell of it.
    const isFromThere = noted.teamId === null && (this.#isExcerpt || this.#arrivals.isErasure(row.id, erasureId));
    if (isFromThere) return noted.reach()(row);
    // Earlier versions told of retention at its end, and where something was counted.
    const isUncounted = kind === "traces" && noted.counts === "{}";
    return (
      id < this.#statedFrom &&
      noted.kind === "retention" &&
      noted.teamId === teamId &&
      (noted.completedAt === null || isUncounted)
    );
  }
}

/** The leaf from which on epochs say that erasures state what they do; infinite where none does. */
function statedFrom(core: Core): number {
  const stated = epochs(core).find(({ text }) => text.includes('"erasures":"stated"'));
  return stated?.holds ? stated.leaf : Number.POSITIVE_INFINITY;
}

/** `telemetry 30 days, audit 400 days`, as retention gives its reason. */
const daysOf = (reason: string): ReadonlyMap<string, number> =>
  new Map([...reason.matchAll(/([a-z-]+) (\d+) days/g)].map(([, kind, days]) => [kind as string, Number(days)]));

function isOld({ kind, receivedAt }: Delivery, { at, days }: Logged["runs"][number]): boolean {
  const kept = days.get(kind);
  if (kept === undefined) return false;
  // With a session that is old enough all of it goes, also labels that are newer.
  return kind === "traces" || receivedAt <= at - kept * DAY_MS + CLOCK_SLACK_MS;
}
