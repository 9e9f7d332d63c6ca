import type { Core } from "../../core.ts";
import { itemUnder } from "../../kit/items.ts";
import { isLeaf } from "../transparency/transparency.ts";
import { type EventRow, type LeafRow, rows } from "./rows.ts";

/** What a leaf of an event commits to: all that is recorded of it. */
export function eventText(row: Omit<EventRow, "id">): string {
  const { at, teamId, actorKind, actorId, actorLabel, action, targetKind, targetId, targetLabel, ip, detail } = row;
  return JSON.stringify({
    at,
    teamId,
    actorKind,
    actorId,
    actorLabel,
    action,
    targetKind,
    targetId,
    targetLabel,
    ip,
    detail,
  });
}

/** The text of an event's leaf: action, team and time in the open; who did it and to what only as the root over its item. */
export const eventLeafText = (
  { action, teamId, at }: Pick<EventRow, "action" | "teamId" | "at">,
  root: Buffer,
): string =>
  JSON.stringify({ v: 2, kind: "event", action, team: teamId, at, itemCount: 1, items: root.toString("hex") });

/** An event by the number of its leaf. */
export const eventOfLeaf = (core: Core, leaf: number): LeafRow | undefined => rows(core.store).ofLeaf.get(leaf);

/** The number of an event's leaf; undefined for an event from before events were leaves. @param id as events are listed by */
export const leafOfEvent = (core: Core, id: number): number | undefined => rows(core.store).asLeaf.get(id)?.leaf;

/** The number of the newest leaf about an act; undefined when there is none. @param targetId of what it was done to */
export const leafOfAct = (core: Core, action: string, targetId: string): number | undefined =>
  rows(core.store).ofAct.get(action, targetId) ?? undefined;

export interface AuditStep {
  readonly leaf: number;
  /** Whether it is unaltered, or was erased since. */
  readonly holds: boolean;
  /** Absent where it was erased as a whole. */
  readonly event?: LeafRow;
  /** Whether something of it was erased. */
  readonly isErased: boolean;
  /** Its team; for one erased as a whole, the team that its row names. */
  readonly teamId: string | null;
}

/** The text of an event's item, and that of its leaf. @param itemKey of the item's salt */
export function eventTexts(row: EventRow, itemKey: Buffer): { readonly item: string; readonly leaf: string } {
  const item = eventText(row);
  return { item, leaf: eventLeafText(row, itemUnder(itemKey, 0, item)) };
}

/** Whether the leaf of an event is that of what is recorded. */
function standsInLog(core: Core, row: LeafRow): boolean {
  const { leaf, itemKey, itemSha256 } = row;
  const root = itemSha256 ?? (itemKey ? itemUnder(itemKey, 0, eventText(row)) : Buffer.alloc(0));
  return isLeaf(core, leaf, eventLeafText(row, root));
}

/**
 * Events of one action, oldest first: those that are unaltered leaves of the log, and those from before events were leaves.
 * @param teamId null for the installation's own
 * @param since milliseconds since the epoch; events that came before one that is older are left out
 */
export function eventsInLog(
  core: Core,
  teamId: string | null,
  action: string,
  since = Number.NEGATIVE_INFINITY,
): EventRow[] {
  const firstLeaf = rows(core.store).firstLeafOf.get(teamId) ?? Number.MAX_SAFE_INTEGER;
  return rows(core.store)
    .ofAction.all({ teamId, action, since })
    .filter((row) => (row.leaf === null ? row.id < firstLeaf : standsInLog(core, row as LeafRow)));
}

/**
 * Walks the events that are leaves of the log, oldest first; then likewise those whose rows say that they were erased as a whole.
 * @param onStray called with the number of each event that has no leaf, though it came when all had one
 */
export function* walkAudit(core: Core, onStray: (id: number, teamId: string | null) => void): Generator<AuditStep> {
  for (const { id, teamId } of rows(core.store).strays.iterate()) onStray(id, teamId);
  for (const row of rows(core.store).leaves.iterate()) {
    const { leaf, teamId, itemSha256 } = row;
    yield {
      leaf,
      holds: standsInLog(core, row),
      event: row,
      isErased: itemSha256 !== null,
      teamId,
    };
  }
  for (const { leaf, teamId } of rows(core.store).erasedLeaves.iterate())
    yield { leaf, holds: true, isErased: true, teamId };
}
