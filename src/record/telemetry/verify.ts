import type { Core } from "../../core.ts";
import { sameDigest, sha256 } from "../../kit/hash.ts";
import { type HeldCheck, HeldRows, type Tell } from "../../log/log.ts";
import { type HeldEntryRow, rows } from "./rows.ts";
import { entryText } from "./rules.ts";

const kind = "telemetry";

/**
 * Compares telemetry deliveries with entries and evidence as they are held now: their content, that nothing was added, and that
 * their stream is that of the delivery's device and repository.
 * @param head the newest delivery
 */
export function checkTelemetry(core: Core, head: number, tell: Tell): HeldCheck {
  const sql = rows(core.store);
  const stray =
    (what: string) =>
    ({ id, deliveryId }: HeldEntryRow) =>
      tell({ deliveryId, kind, problem: "stray", detail: `${what} ${id} came with no telemetry delivery` });
  const entries = new HeldRows(sql.entriesByDelivery.iterate(), head, stray("entry"));
  const evidence = new HeldRows(sql.conflictsByDelivery.iterate(), head, stray("conflicting entry"));
  return {
    check({ id: deliveryId, teamId, deviceId, repoKey, items, contentSha256 }) {
      const stream = sql.stream.get(deviceId, repoKey);
      const own = stream?.teamId === teamId ? stream.id : undefined;
      const contradicting = [...evidence.of(deliveryId, 0)];
      const held = [...entries.of(deliveryId, items - contradicting.length), ...contradicting];
      const foreign = held.find(({ streamId }) => streamId !== own);
      const told = (problem: "content" | "owner", detail: string) => tell({ deliveryId, kind, problem, detail });
      if (!sameDigest(sha256(held.map(entryText).join("")), contentSha256))
        told("content", "its entries are not those that were delivered");
      if (foreign)
        told(
          "owner",
          `entry ${foreign.id} of it is in stream ${foreign.streamId}, which is not of its team, device and repository`,
        );
    },
    finish() {
      entries.finish();
      evidence.finish();
      for (const { id, maxSeq, heldSeq, deliveryId } of sql.streamsAstray.iterate())
        tell({
          deliveryId,
          kind,
          problem: "newest",
          detail: `stream ${id} says ${maxSeq} and holds entries to ${heldSeq}`,
        });
    },
    close() {
      entries.close();
      evidence.close();
    },
  };
}
