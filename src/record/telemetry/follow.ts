import type { Core } from "../../core.ts";
import { isoInstant } from "../../kit/clock.ts";
import { deliveryFinder, newestDelivery } from "../../log/log.ts";
import { type EntryFilter, entryFilter } from "./entries.ts";
import { type CandidateRow, rows } from "./rows.ts";
import { type WalkedEntry, walkArrivals } from "./walk.ts";

/**
 * All entries that a filter lets through, oldest first by arrival, as JSON lines (each with its line feed):
 * `seq`, `repoKey` (`""` when the client named none), `deviceId`, `receivedAt` (RFC 3339), `clientTimestamp`, `payload`.
 * The payload is the text as stored; only line breaks between its tokens, which JSON Lines does not allow, become spaces.
 * Reads in short queries and gives way between them, so that writing and checkpointing go on during a long export. What
 * arrives after it began is left out, so that it ends.
 */
export async function* exportEntries(core: Core, teamId: string, filter: EntryFilter = {}): AsyncGenerator<string> {
  const matches = entryFilter(core, filter);
  const { deviceId, repoKey, from, to } = filter;
  const unlimited = {
    entries: Number.POSITIVE_INFINITY,
    deliveries: Number.POSITIVE_INFINITY,
    chars: Number.POSITIVE_INFINITY,
  };
  const last = newestDelivery(core);
  const scope = { deviceId, repoKey, from, to };
  for await (const { rows, at } of walkArrivals(core, teamId, scope, "newer", undefined, unlimited)) {
    if ((at[0] as number) > last) return;
    for (const entry of rows) if (matches(entry)) yield line(entry);
  }
}

function line({ seq, repoKey, deviceId, receivedAt, clientTimestamp, payload }: WalkedEntry): string {
  const facts = JSON.stringify({ seq, repoKey, deviceId, receivedAt: isoInstant(receivedAt), clientTimestamp });
  return `${facts.slice(0, -1)},"payload":${payload.replace(/[\r\n]/g, " ")}}\n`;
}

/** An entry whose payload may tell of usage or cost, with what its stream says of it. */
export interface UsageCandidate extends Omit<CandidateRow, "deliveryId"> {
  readonly receivedAt: number;
}

/**
 * Entries after a number, in the order of arrival, of which those are handed out whose payload names usage or cost.
 * @param count entries looked at
 * @returns `to`, the number of the last one looked at; undefined when none follows
 */
export function usageCandidates(
  core: Core,
  after: number,
  count: number,
): { readonly to: number; readonly entries: readonly UsageCandidate[] } | undefined {
  const sql = rows(core.store);
  const to = sql.endAfter.get(after, count);
  if (to === null || to === undefined) return undefined;
  const deliveryOf = deliveryFinder(core);
  const entries = sql.usageCandidates.all(after, to).flatMap(({ deliveryId, ...candidate }) => {
    const receivedAt = deliveryOf(deliveryId)?.receivedAt;
    return receivedAt === undefined ? [] : [{ ...candidate, receivedAt }];
  });
  return { to, entries };
}

/** The number of the newest entry; 0 before the first. */
export const lastEntryId = (core: Core): number => rows(core.store).lastEntry.get() ?? 0;
