import { type Html, html } from "../../../../kit/html.ts";
import type { SnapshotFacts } from "../../../../record/brain/brain.ts";
import { badge } from "../../ui/parts.ts";
import type { Member } from "../shared/call.ts";
import { idIn } from "../shared/params.ts";

/** Snapshots of brains: in addresses, and how pages mark them. */

/** A snapshot's number in the query; undefined when there is none or it is no number. */
export const snapshotIn = ({ query }: Member, name = "snapshot"): number | undefined => idIn(query.get(name));

/** What the ledger says of a snapshot. */
export function snapshotBadges(snapshot: SnapshotFacts, current: boolean): Html {
  return html`${current && badge("good", "current")} ${snapshot.gap === 1 && badge("warn", "gap")} ${snapshot.accepted === 0 && badge("bad", "rollback")}`;
}

/** Why a snapshot is marked with a gap, after its mark. */
export const gapMeans = (): Html =>
  html`${badge("warn", "gap")} The version number skipped ahead, so snapshots between it and the one before never arrived.`;

/** Why a snapshot is marked as a rollback, after its mark. */
export const rollbackMeans = (): Html =>
  html`${badge("bad", "rollback")} The version number was not above the device's last one, but the content differs. The snapshot is kept as evidence and never becomes current.`;
