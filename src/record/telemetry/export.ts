import type { Core } from "../../core.ts";
import { isoInstant } from "../../kit/clock.ts";
import { browseRows } from "./browse-rows.ts";
import { type EntryFilter, sieve } from "./entries.ts";
import { type WalkedEntry, walkArrivals } from "./walk.ts";

/**
 * All entries that a filter lets through, oldest first by arrival, as JSON lines (each with its line feed):
 * `seq`, `repoKey` (`""` when the client named none), `deviceId`, `receivedAt` (RFC 3339), `clientTimestamp`, `payload`.
 * The payload is the text as stored; only line breaks between its tokens, which JSON Lines does not allow, become spaces.
 * Reads in short queries and gives way between them, so that writing and checkpointing go on during a long export. What
 * arrives after it began is left out, so that it ends.
 */
export async function* exportEntries(core: Core, teamId: string, filter: EntryFilter = {}): AsyncGenerator<string> {
  const wanted = sieve(core, filter);
  const { deviceId, repoKey, from, to } = filter;
  const unlimited = {
    entries: Number.POSITIVE_INFINITY,
    deliveries: Number.POSITIVE_INFINITY,
    chars: Number.POSITIVE_INFINITY,
  };
  const last = browseRows(core.store).lastDelivery.get() as number;
  const scope = { deviceId, repoKey, from, to };
  for await (const { entries, at } of walkArrivals(core, teamId, scope, "newer", undefined, unlimited)) {
    if ((at[0] as number) > last) return;
    for (const entry of entries) if (wanted(entry)) yield line(entry);
  }
}

function line({ seq, repoKey, deviceId, receivedAt, clientTimestamp, payload }: WalkedEntry): string {
  const facts = JSON.stringify({ seq, repoKey, deviceId, receivedAt: isoInstant(receivedAt), clientTimestamp });
  return `${facts.slice(0, -1)},"payload":${payload.replace(/[\r\n]/g, " ")}}\n`;
}
