import type { Core } from "../../core.ts";
import { getTeam } from "../../identity/teams/teams.ts";
import { saltOf } from "../../kit/items.ts";
import { conflict, fail, notFound } from "../../kit/problem.ts";
import { type ProofBundle, writeBundle } from "../../kit/transparency/bundle.ts";
import { findDelivery, proveDelivery } from "../../log/log.ts";
import { eventOfLeaf, eventTexts } from "../../platform/audit/audit.ts";
import { epochs, logImports, proveLeaf } from "../../platform/transparency/transparency.ts";
import { snapshotItems } from "../../record/brain/brain.ts";
import { itemsAround } from "../../record/telemetry/telemetry.ts";
import { itemsOfSession, traceErasure } from "../../record/traces/traces.ts";

/** What can be proved: an entry of telemetry, a snapshot of a brain, a session, an event of the audit, a delivery by its leaf alone. */
export const PROVABLE = ["entry", "snapshot", "session", "event", "delivery"] as const;
export type Provable = (typeof PROVABLE)[number];

/** The delivery of what is to be proved, and its items, unless the leaf alone is meant. */
interface Found {
  readonly deliveryId: number;
  /** Reads the texts of the delivery's items, and which of them are what is proved. */
  items?(): { readonly own: readonly number[]; readonly texts: ReadonlyMap<number, string | Uint8Array> };
}

/** How each is found by its number. */
const FINDERS: Readonly<Record<Exclude<Provable, "event">, (core: Core, id: number) => Found | undefined>> = {
  entry: itemsAround,
  snapshot: snapshotItems,
  session: itemsOfSession,
  delivery: (_core, deliveryId) => ({ deliveryId }),
};

/** What of a team is shown: a proof holds what it proves. */
interface Shown {
  /** Only what this device delivered. */
  readonly ofDevice?: string | undefined;
  /** Not the audit. */
  readonly noEvents?: boolean;
}

/**
 * Proves that something is in the log, for whoever has the log's key and nothing else.
 * @param teamId whose it must be; null for who has the data directory
 * @param id as it stands in addresses of pages; of an event the number of its leaf
 * @param shown all of the team's without it
 * @returns the text of a file that `reckon ledger check` reads
 * @throws Problem notFound; conflict where it is not in the log as it is held, or came before there was a tree
 */
export function prove(core: Core, teamId: string | null, kind: Provable, id: number, shown: Shown = {}): string {
  if (kind !== "event") return writeBundle(deliveryBundle(core, teamId, kind, id, shown));
  if (shown.noEvents) fail(notFound, noEvent(id));
  return writeBundle(eventBundle(core, teamId, id));
}

/**
 * The number of a session, given by it or by its agent's id for it.
 * @param teamId whose it must be; null for any
 * @throws Problem notFound; conflict where several have that id
 */
export function numberOfSession(core: Core, teamId: string | null, named: string): number {
  const found = traceErasure.findSessions(core, named).filter((one) => teamId === null || one.teamId === teamId);
  const [session, another] = found;
  if (!session) fail(notFound, `There is no session ${named}.`);
  if (another)
    fail(
      conflict,
      `Several have a session ${named}: give its number, one of ${found.map((one) => `${one.id} of ${getTeam(core, one.teamId).name}`).join(", ")}, or --team.`,
    );
  return session.id;
}

const noEvent = (leaf: number) => `There is no event with leaf ${leaf}.`;

function deliveryBundle(
  core: Core,
  teamId: string | null,
  kind: Exclude<Provable, "event">,
  id: number,
  { ofDevice }: Shown,
): ProofBundle {
  const missing = `There is no ${kind} ${id}.`;
  const found = FINDERS[kind](core, id);
  const delivery = found && findDelivery(core, found.deliveryId);
  const isOthers =
    delivery &&
    ((teamId !== null && delivery.teamId !== teamId) || (ofDevice !== undefined && delivery.deviceId !== ofDevice));
  // Nothing of others is read: how long that takes would tell how much they have.
  if (!delivery || isOthers) fail(notFound, missing);
  const brought = found.items?.();
  const chosen = brought ? [0, ...brought.own] : [];
  const proved = proveDelivery(core, delivery.id, brought?.texts ?? new Map(), chosen) ?? fail(notFound, missing);
  const items = brought ? proved.items : [];
  if (!items)
    fail(
      conflict,
      `The ${kind} ${id} cannot be proved: it came before deliveries had items, was erased, or is not held as it was delivered. ` +
        `"delivery ${found.deliveryId}" proves when it came.`,
    );
  return { ...inTree(core, found.deliveryId), leaf: proved.leaf, items };
}

function eventBundle(core: Core, teamId: string | null, leaf: number): ProofBundle {
  const own = logsOwn(core, teamId, leaf);
  if (own !== undefined) return { ...inTree(core, leaf), leaf: own, items: [] };
  const row = eventOfLeaf(core, leaf);
  if (!row || (teamId !== null && row.teamId !== teamId)) fail(notFound, noEvent(leaf));
  if (!row.itemKey || row.itemSha256)
    fail(conflict, "Names were erased from this event, so its original text cannot be shown.");
  const { item, leaf: text } = eventTexts(row, row.itemKey);
  const items = [{ index: 0, count: 1, salt: saltOf(row.itemKey, 0), text: item, path: [] }];
  return { ...inTree(core, leaf), leaf: text, items };
}

/** The text of a leaf by which the log tells of itself: that it went on under another name, or took in a team, which only that team is shown. */
const logsOwn = (core: Core, teamId: string | null, leaf: number): string | undefined =>
  epochs(core).find((one) => one.leaf === leaf)?.text ??
  logImports(core).find((one) => one.leaf === leaf && (teamId ?? one.facts.team) === one.facts.team)?.text;

function inTree(core: Core, n: number): Pick<ProofBundle, "checkpoint" | "index" | "inclusion"> {
  const proof =
    proveLeaf(core, n) ?? fail(conflict, "Nothing was signed yet: start the server on this data directory once.");
  return { checkpoint: proof.checkpoint.note, index: proof.index, inclusion: proof.hashes };
}
