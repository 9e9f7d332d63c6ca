import type { Core } from "../../core.ts";
import { sha256 } from "../../kit/hash.ts";
import { commitTo, itemUnder } from "../../kit/items.ts";
import { findLeaf } from "../transparency/transparency.ts";
import { recordEvent, SYSTEM } from "./events.ts";
import { eventText } from "./leaf.ts";
import { type EventRow, type LeafRow, rows } from "./rows.ts";

/*
 * An erasure states what it does to the audit in events of its own, in the same transaction. These are leaves, too. So whoever can write
 * the database cannot erase more, or change what was left, without a leaf that nobody recorded.
 */

/** States the digest of all events of a team that were ever erased. */
export const EVENTS_ERASED = "events.erased";
/** States what each event says after its names were removed. */
export const NAMES_ERASED = "names.erased";

/** The erasure that a change belongs to. */
export interface ErasureRef {
  readonly id: string;
  readonly kind: string;
}

/** Row change. */
function state(core: Core, action: string, teamId: string | null, { id, kind }: ErasureRef, detail: object): void {
  recordEvent(core, SYSTEM, { action, teamId, target: { kind: "erasure", id, label: kind }, detail: { ...detail } });
}

/** The chain before the first erased leaf. */
export const NOTHING_ERASED: Buffer = Buffer.alloc(32);

/** Extends the chain of erased leaves by one, in the order of the log. It is made of hashes, which stay the same wherever a team moves. */
export const chainErased = (before: Buffer, leafSha256: Buffer): Buffer => sha256(Buffer.concat([before, leafSha256]));

/** The chain of a team that was stated last; to be read before anything more is erased. */
function statedChain(core: Core, teamId: string): Buffer | undefined {
  const detail = rows(core.store).lastOf.get(teamId, EVENTS_ERASED);
  const { chain } = JSON.parse(detail ?? "{}") as { readonly chain?: string };
  return chain === undefined ? undefined : Buffer.from(chain, "hex");
}

/** Row change: states all that was ever erased of a team, unless that is stated already. */
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

/** Row change: removes events of a team, and states it. @returns how many were removed */
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
  // Everything except what earlier versions erased is erased in the order of the log, so the chain can be continued.
  const goesOn = before.chain !== undefined && leaves.every((leaf, i) => leaf > (leaves[i - 1] ?? before.last));
  const chain = goesOn
    ? leaves.reduce((chained, leaf) => chainErased(chained, findLeaf(core, leaf) as Buffer), before.chain as Buffer)
    : chainOfAll(core, teamId);
  state(core, EVENTS_ERASED, teamId, erasure, { events: removed, chain: chain.toString("hex") });
  return removed;
}

/** The text that is stated of an event without names: its leaf, and what it says now. */
const statedText = (leafSha256: Buffer, row: Omit<EventRow, "id">): string =>
  `${leafSha256.toString("hex")} ${eventText(row)}`;

/** The hash of an event's text since names were removed; undefined when an earlier version removed them, which stated nothing. */
export function hashOfRest(core: Core, row: LeafRow): string | undefined {
  const leaf = findLeaf(core, row.leaf);
  return row.itemKey && leaf ? itemUnder(row.itemKey, 0, statedText(leaf, row)).toString("hex") : undefined;
}

type Rewritten = Pick<EventRow, "id" | "actorLabel" | "targetLabel" | "ip" | "detail">;

/**
 * Row change: gives events another text, and states it. The former text remains as a hash whose key is gone, since with the key it could be
 * guessed. When they are changed again, the same goes for the stated text.
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
