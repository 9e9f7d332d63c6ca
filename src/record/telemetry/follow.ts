import type { Core } from "../../core.ts";
import { isoInstant } from "../../kit/clock.ts";
import { firstWhere } from "../../kit/first-where.ts";
import type { ExportedItem } from "../../kit/items.ts";
import { exactly, exactMember, inOneLine, withoutHalves } from "../../kit/json.ts";
import { fail, invalid } from "../../kit/problem.ts";
import { deliveryFinder, newestDelivery } from "../../log/log.ts";
import { type EntryFilter, entryFilter } from "./entries.ts";
import { conflictsOf, firstOfDelivery } from "./items.ts";
import { entryAt, type PackedEntries, textAt } from "./packed.ts";
import { entryText } from "./rules.ts";
import { segmentRows } from "./segment-rows.ts";
import { readSegment } from "./segments.ts";
import { type WalkedEntry, walkArrivals } from "./walk.ts";

/**
 * All entries that a filter lets through, oldest first by arrival, as JSON lines (each with its line feed):
 * `seq`, `repoKey` (`""` when the client named none), `deviceId`, `receivedAt` (RFC 3339), `clientTimestamp`, `payload`.
 * The payload is the text as stored; only line breaks between its tokens, which JSON Lines does not allow, become spaces, and halves of
 * surrogate pairs U+FFFD.
 * Reads in short queries and gives way between them, so that writing and checkpointing go on during a long export. What
 * arrives after it began is left out, so that it ends.
 * @param withItems adds what an entry is checked with: `deliveryId`, which `item` of that it is, and `exact`, the payload as a text,
 *   where line breaks became spaces; the filter then is one of deliveries alone
 */
export async function* exportEntries(
  core: Core,
  teamId: string,
  filter: EntryFilter = {},
  withItems = false,
): AsyncGenerator<string> {
  const matches = entryFilter(core, filter);
  const { deviceId, deviceIds, repoKey, from, to } = filter;
  const unlimited = {
    entries: Number.POSITIVE_INFINITY,
    deliveries: Number.POSITIVE_INFINITY,
    chars: Number.POSITIVE_INFINITY,
  };
  const last = newestDelivery(core);
  const scope = { deviceId, deviceIds, repoKey, from, to };
  const itemOf = itemFinder(core);
  for await (const { rows, at } of walkArrivals(core, teamId, scope, "newer", undefined, unlimited)) {
    if ((at[0] as number) > last) return;
    for (const entry of rows)
      if (matches(entry))
        yield withItems ? line(entry, { ...itemOf(entry), exact: exactly(entry.payload) }) : withoutHalves(line(entry));
  }
}

/** Gives which item of its delivery an entry is, erased ones before it included; entries of one delivery mostly follow each other. */
function itemFinder(core: Core): (entry: WalkedEntry) => Pick<ExportedItem, "deliveryId" | "item"> {
  const last = { deliveryId: 0, firstId: 0 };
  return ({ deliveryId, id }) => {
    if (last.deliveryId !== deliveryId) {
      const segment = segmentRows(core.store).factsFrom.get(id);
      Object.assign(last, { deliveryId, firstId: segment ? firstOfDelivery(core, segment) : id });
    }
    return { deliveryId, item: id - last.firstId + 1 };
  };
}

function line(
  { seq, repoKey, deviceId, receivedAt, clientTimestamp, payload }: WalkedEntry,
  more: object = {},
): string {
  const facts = JSON.stringify({
    ...{ seq, repoKey, deviceId, receivedAt: isoInstant(receivedAt), clientTimestamp },
    ...more,
  });
  return `${facts.slice(0, -1)},"payload":${inOneLine(payload)}}\n`;
}

/** The item that a line of `exportEntries` with items holds. @throws Problem where it says two things */
function exportedEntry(text: string): ExportedItem[] {
  const { deliveryId, item, seq, clientTimestamp, exact, ...line } = JSON.parse(text) as EntryLine;
  const payload =
    exactMember(text, "payload", exact) ?? fail(invalid, `entry ${seq} of delivery ${deliveryId} says two things`);
  const { deviceId, repoKey, receivedAt } = line;
  return [
    { deliveryId, item, text: entryText({ seq, clientTimestamp, payload }), facts: { deviceId, repoKey, receivedAt } },
  ];
}

interface EntryLine extends ExportedItem, Pick<WalkedEntry, "seq" | "clientTimestamp"> {
  readonly exact?: string;
  readonly deviceId: unknown;
  readonly repoKey: unknown;
  readonly receivedAt: unknown;
}

/** An entry whose payload may tell of usage or cost, with what its stream says of it. */
export interface UsageCandidate {
  readonly id: number;
  readonly teamId: string;
  readonly deviceId: string;
  readonly repoKey: string;
  readonly receivedAt: number;
  readonly clientTimestamp: string | null;
  readonly payload: string;
}

/** The members of a payload that tell of usage or cost. */
const NAMES = ["usage", "costUsd"].map((name) => Buffer.from(name));

/**
 * Entries after a number, in the order of arrival, of which those are handed out whose payload names usage or cost.
 * @param count entries looked at
 * @param only the devices whose entries they are; all when left out
 * @returns `to`, the number of the last one looked at; undefined when none follows
 */
export function usageCandidates(
  core: Core,
  after: number,
  count: number,
  only?: { has(deviceId: string): boolean },
): { readonly to: number; readonly entries: readonly UsageCandidate[] } | undefined {
  const sql = segmentRows(core.store);
  const deliveryOf = deliveryFinder(core);
  const entries: UsageCandidate[] = [];
  let to = after;
  let left = count;
  for (const segment of sql.ownedFrom.iterate(sql.factsFrom.get(after + 1)?.firstId ?? 0)) {
    const { firstId, teamId, deviceId, repoKey, deliveryId } = segment;
    const start = Math.max(0, after + 1 - firstId);
    const end = Math.min(segment.entries, start + left);
    if (start >= end) continue;
    to = firstId + end - 1;
    left -= end - start;
    const isWanted = teamId !== null && (only?.has(deviceId) ?? true);
    const receivedAt = isWanted ? deliveryOf(deliveryId)?.receivedAt : undefined;
    if (teamId !== null && receivedAt !== undefined) {
      const packed = readSegment(core, segment);
      for (const i of naming(packed, start, end)) {
        const { clientTimestamp, payload } = entryAt(packed, i);
        entries.push({ id: firstId + i, teamId, deviceId, repoKey, receivedAt, clientTimestamp, payload });
      }
    }
    if (left === 0) break;
  }
  return to === after ? undefined : { to, entries };
}

/** Which entries, from one on up to another, name usage or cost. */
function naming(packed: PackedEntries, from: number, to: number): number[] {
  if (!NAMES.some((name) => packed.texts.includes(name))) return [];
  const found: number[] = [];
  for (let i = from; i < Math.min(to, packed.seqs.length); i++)
    if (NAMES.some((name) => textAt(packed, i).includes(name))) found.push(i);
  return found;
}

/** The number of the newest entry, or of the newest of deliveries up to `through`; 0 before the first. */
export function lastEntryId(core: Core, through = Number.MAX_SAFE_INTEGER): number {
  const { nextId, factsFrom } = segmentRows(core.store);
  const last = (nextId.get() ?? 1) - 1;
  if (through === Number.MAX_SAFE_INTEGER) return last;
  return firstWhere(last, (id) => (factsFrom.get(id)?.deliveryId ?? 0) > through) - 1;
}

/** What archives read of entries, and of conflicts. */
export const telemetryExport = { itemsOf: exportedEntry, conflictsOf };
