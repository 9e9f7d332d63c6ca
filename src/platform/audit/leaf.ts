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

/**
 * Walks the events that are leaves of the log, oldest first; then likewise those whose rows say that they were erased as a whole.
 * @param onStray called with the number of each event that has no leaf, though it came when all had one
 */
export function* walkAudit(core: Core, onStray: (id: number, teamId: string | null) => void): Generator<AuditStep> {
  for (const { id, teamId } of rows(core.store).strays.iterate()) onStray(id, teamId);
  for (const row of rows(core.store).leaves.iterate()) {
    const { leaf, teamId, itemKey, itemSha256 } = row;
    const root = itemSha256 ?? (itemKey ? itemUnder(itemKey, 0, eventText(row)) : Buffer.alloc(0));
    yield {
      leaf,
      holds: isLeaf(core, leaf, eventLeafText(row, root)),
      event: row,
      isErased: itemSha256 !== null,
      teamId,
    };
  }
  for (const { leaf, teamId } of rows(core.store).erasedLeaves.iterate())
    yield { leaf, holds: true, isErased: true, teamId };
}
