import type { Core } from "../core.ts";
import { forgetItems } from "./items.ts";
import { type DeliveryFacts, type DeliveryRow, rows } from "./rows.ts";

/** What is to be erased of a device's deliveries. */
export interface Portion {
  readonly teamId: string;
  readonly deviceId: string;
  /** Null for all repositories. */
  readonly repoKey: string | null;
  /** Includes what was received up to then, in milliseconds since the epoch, by a clock that may have been set back or ahead. */
  readonly until: number;
  /** Includes deliveries up to this number in the log. */
  readonly through: number;
  /** The erasure that removes it. */
  readonly erasureId: string;
}

/** Whether a delivery of a portion's device and repository lies within the portion's bounds. */
const isWithin = (
  delivery: Pick<DeliveryFacts, "id" | "receivedAt"> | undefined,
  { until, through }: Pick<Portion, "until" | "through">,
): boolean => delivery !== undefined && delivery.receivedAt <= until && delivery.id <= through;

/** Whether nothing is left of what a delivery brought. */
const isErased = ({ erasedBy, erasedItems, items }: Pick<DeliveryFacts, "erasedBy" | "erasedItems" | "items">) =>
  erasedBy !== null && erasedItems >= items;

/** Row change: what a delivery brought is gone. Call in the transaction that removes it. */
function markErased(core: Core, deliveryId: number, erasureId: string): void {
  rows(core.store).markErased.run(erasureId, deliveryId);
  rows(core.store).dropItems.run(deliveryId);
}

/** Row change: so many of the items that a delivery brought are gone. Call in the transaction that removes them. */
function markErasedInPart(core: Core, deliveryId: number, items: number, erasureId: string): void {
  rows(core.store).markErasedInPart.run(erasureId, items, deliveryId);
}

/** Delivery ids looked at in one go: some milliseconds. */
const BATCH_IDS = 5_000;

/** A delivery of a portion that is not erased entirely. */
interface Unerased extends Pick<DeliveryFacts, "id"> {
  readonly portion: Portion;
}

/**
 * The deliveries of a kind within some portions that are not erased entirely, oldest first; each step covers some thousand ids. Each team's
 * deliveries are walked once, however many devices the portions name.
 */
function* unerasedDeliveries(
  core: Core,
  kind: DeliveryRow["kind"],
  portions: readonly Portion[],
): Generator<readonly Unerased[]> {
  const sql = rows(core.store);
  for (const [teamId, ofTeam] of Map.groupBy(portions, (portion) => portion.teamId)) {
    const byDevice = Map.groupBy(ofTeam, ({ deviceId }) => deviceId);
    // Not spread into `Math.max`: a team may have a portion for each machine that lived for one job in some years, more than a call takes
    // as arguments.
    const through = ofTeam.reduce((most, one) => Math.max(most, one.through), 0);
    const newest = Math.min(sql.last.get() ?? 0, through);
    for (let low = 1; low <= newest; low += BATCH_IDS)
      yield sql.unerased
        .all({ teamId, kind, low, high: Math.min(low + BATCH_IDS - 1, newest) })
        .flatMap(({ id, deviceId, repoKey, receivedAt }) =>
          (byDevice.get(deviceId) ?? [])
            .filter((one) => (one.repoKey ?? repoKey) === repoKey && isWithin({ id, receivedAt }, one))
            .map((portion) => ({ id, portion })),
        );
  }
}

/** Of the deliveries of some rows, the ids of those within a portion that are not erased entirely. */
const leftOf = (
  core: Core,
  of: readonly { readonly deliveryId: number }[],
  { until, through }: Pick<Portion, "until" | "through">,
): ReadonlySet<number> => {
  const ids = JSON.stringify(of.map(({ deliveryId }) => deliveryId));
  return new Set(rows(core.store).left.all({ ids, until, through }));
};

/** Whether a device delivered something of a kind at an instant, after a portion in the order of the log, whatever the clock said. */
const cameSince = (
  core: Core,
  kind: DeliveryRow["kind"],
  { teamId, deviceId, through }: Omit<Portion, "erasureId">,
  at: number,
): boolean => rows(core.store).cameSince.get({ kind, teamId, deviceId, through, at }) === 1;

/** Whether something that a device delivered of a repository was erased. */
const hasErased = (core: Core, kind: DeliveryRow["kind"], deviceId: string, repoKey: string): boolean =>
  rows(core.store).anyErased.get(kind, deviceId, repoKey) === 1;

/**
 * As `hasErased`, by a walk of the stream alone, so that it may be asked while a delivery waits. It does not see deliveries from before
 * there were streams.
 */
const hasErasedOfStream = (core: Core, kind: DeliveryRow["kind"], deviceId: string, repoKey: string): boolean =>
  rows(core.store).anyErasedOfStream?.get(deviceId, kind, repoKey) === 1;

/** What other rooms need to erase deliveries and to tell what was erased. */
export const deliveryErasure = {
  isWithin,
  forgetItems,
  isErased,
  markErased,
  markErasedInPart,
  leftOf,
  unerasedDeliveries,
  cameSince,
  hasErased,
  hasErasedOfStream,
};
