import { onWire } from "../../formats/errors/fingerprint.ts";
import { isoInstant, MINUTE_MS } from "../../kit/clock.ts";
import type { Exchange } from "../exchange.ts";
import { quietNow } from "../policy.ts";
import { isDue, notBefore } from "../schedule.ts";
import { readEntries, type TreeEntries } from "./entries.ts";
import { treesByRepository } from "./publish.ts";
import { newestTree, treesAt } from "./tree.ts";

/** Fingerprints of one pulse. */
const MAX_FINGERPRINTS = 1_000;

/**
 * Reports every hour what the errors files of each repository come to: counts, and the first 8 digits of the fingerprints of their
 * entries, made on this machine. No text leaves it, so that a policy of facts alone allows it too.
 */
export async function sendPulses(exchange: Exchange): Promise<void> {
  const { capture } = exchange;
  if (quietNow(capture) || !isDue(capture, "pulse")) return;
  for (const [repo, roots] of treesByRepository(capture)) {
    const tree = newestTree(repo, treesAt(roots));
    const read = tree && readEntries(tree);
    if (!read) continue;
    const at = isoInstant(capture.clock.now());
    const answer = await exchange.post(
      "/api/brain-pulse/ingest",
      JSON.stringify({ repoKey: repo, at, ...pulseOf(read) }),
      "pulse",
    );
    if (exchange.stopped !== undefined || (answer.kind === "refused" && answer.status === 402)) return;
  }
  notBefore(capture, "pulse", 60 * MINUTE_MS);
}

function pulseOf({ entries, skipped }: TreeEntries) {
  const occurrences = new Map<string, number>();
  for (const { fingerprint } of entries) {
    const digits = onWire(fingerprint);
    occurrences.set(digits, (occurrences.get(digits) ?? 0) + 1);
  }
  const counts = {
    errors: entries.length,
    open: entries.filter(({ open }) => open).length,
    classes: occurrences.size,
    recurring: [...occurrences.values()].filter((count) => count > 1).length,
    skipped,
  };
  return { counts, fingerprints: [...occurrences.keys()].slice(0, MAX_FINGERPRINTS) };
}
