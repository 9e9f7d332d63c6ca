import type { Core } from "../../core.ts";
import { sha256 } from "../../kit/hash.ts";
import { commitTo, itemUnder } from "../../kit/items.ts";
import { findLeaf } from "../transparency/transparency.ts";
import { recordEvent, SYSTEM } from "./events.ts";
import { eventText } from "./leaf.ts";
import { type EventRow, type LeafRow, rows } from "./rows.ts";

/*
 * What erasing does to the audit is told by events of its own, in the transaction that does it. They are leaves, too: whoever can write
 * the database cannot add to what went, nor change what was left, without a leaf that nobody recorded.
 */

/** Of events that are no more: what all that ever went of a team make together. */
export const EVENTS_ERASED = "events.erased";
/** Of events that stay without names: what each says since. */
export const NAMES_ERASED = "names.erased";

/** The erasure that something goes with. */
export interface ErasureRef {
  readonly id: string;
  readonly kind: string;
}

/** Row change. */
function state(core: Core, action: string, teamId: string | null, { id, kind }: ErasureRef, detail: object): void {
  recordEvent(core, SYSTEM, { action, teamId, target: { kind: "erasure", id, label: kind }, detail: { ...detail } });
}

/** What goes before the first leaf that went. */
export const NOTHING_ERASED: Buffer = Buffer.alloc(32);

/** A digest of leaves that went and one more, in the order of the log. By hashes, which are the same wherever a team moves. */
export const chainErased = (before: Buffer, leafSha256: Buffer): Buffer => sha256(Buffer.concat([before, leafSha256]));

/** The chain that is stated last of a team; to be asked for before anything more goes. */
function statedChain(core: Core, teamId: string): Buffer | undefined {
  const detail = rows(core.store).lastOf.get(teamId, EVENTS_ERASED);
  const { chain } = JSON.parse(detail ?? "{}") as { readonly chain?: string };
  return chain === undefined ? undefined : Buffer.from(chain, "hex");
}

/** Row change: states what ever went of a team, where that is not done yet. */
export function stateUnstated(core: Core, teamId: string, erasure: ErasureRef): void {
  const sql = rows(core.store);
  // Nothing is stated of a team that lost no events: whoever checks would look for them in all that the team has.
  if (sql.lastErased.get(teamId) !== undefined && statedChain(core, teamId) === undefined)
    state(core, EVENTS_ERASED, teamId, erasure, { events: 0, chain: chainOfAll(core, teamId).toString("hex") });
}

function chainOfAll(core: Core, teamId: string): Buffer {
  let chain = NOTHING_ERASED;
  for (const leaf of rows(core.store).erasedOf.iterate(teamId))
    chain = chainErased(chain, findLeaf(core, leaf) as Buffer);
  return chain;
}

/** Row change: removes events of a team, and states so. @returns how many went */
export function removeEvents(core: Core, teamId: string, ids: readonly number[], erasure: ErasureRef): number {
  if (ids.length === 0) return 0;
  const sql = rows(core.store);
  const before = { chain: statedChain(core, teamId), last: sql.lastErased.get(teamId) ?? 0 };
  const leaves = ids.flatMap((id) => sql.asLeaf.get(id)?.leaf ?? []);
  let removed = 0;
  for (const id of ids) {
    sql.noteErased.run(id);
    removed += sql.remove.run(id).changes;
  }
  if (leaves.length === 0) return removed;
  // All but what earlier versions erased goes in the order of the log, so that the chain goes on.
  const goesOn = before.chain !== undefined && leaves.every((leaf, i) => leaf > (leaves[i - 1] ?? before.last));
  const chain = goesOn
    ? leaves.reduce((chained, leaf) => chainErased(chained, findLeaf(core, leaf) as Buffer), before.chain as Buffer)
    : chainOfAll(core, teamId);
  state(core, EVENTS_ERASED, teamId, erasure, { events: removed, chain: chain.toString("hex") });
  return removed;
}

/** What is stated of an event without names: its leaf, and what it says. */
const statedText = (leafSha256: Buffer, row: Omit<EventRow, "id">): string =>
  `${leafSha256.toString("hex")} ${eventText(row)}`;

/** The hash of what an event says since names were taken out of it; undefined where an earlier version did, which stated nothing. */
export function hashOfRest(core: Core, row: LeafRow): string | undefined {
  const leaf = findLeaf(core, row.leaf);
  return row.itemKey && leaf ? itemUnder(row.itemKey, 0, statedText(leaf, row)).toString("hex") : undefined;
}

type Rewritten = Pick<EventRow, "id" | "actorLabel" | "targetLabel" | "ip" | "detail">;

/**
 * Row change: has events say something else, and states what. What they said stays as a hash of which the key is gone: with it, it could
 * be guessed. So does what they said since, once they are changed again.
 */
export function rewriteEvents(core: Core, changed: readonly Rewritten[], erasure: ErasureRef): void {
  const sql = rows(core.store);
  const hashes = new Map<string | null, string[]>();
  for (const { id, actorLabel, targetLabel, ip, detail } of changed) {
    const row = sql.asLeaf.get(id);
    sql.rewrite.run({ id, actorLabel, targetLabel, ip, detail });
    if (!row) continue;
    const next = { ...row, actorLabel, targetLabel, ip, detail };
    const { key, root } = commitTo([statedText(findLeaf(core, row.leaf) as Buffer, next)]);
    sql.keepHash.run(row.itemSha256 ?? itemUnder(row.itemKey as Buffer, 0, eventText(row)), key, id);
    hashes.set(row.teamId, [...(hashes.get(row.teamId) ?? []), root.toString("hex")]);
  }
  for (const [teamId, of] of hashes) state(core, NAMES_ERASED, teamId, erasure, { events: of.length, hashes: of });
}
