import { brainDigest } from "../brain/brain.ts";
import type { Core } from "../core.ts";
import { isoInstant } from "../kit/clock.ts";
import { sameDigest } from "../kit/hash.ts";
import { ledgerHead, walkLedger } from "../ledger/ledger.ts";
import { telemetryDigest } from "../telemetry/telemetry.ts";

export interface LedgerFault {
  readonly deliveryId: number;
  readonly kind: string;
  readonly receivedAt: string;
  readonly problem: "chain" | "content" | "anchor";
}

export interface LedgerReport {
  readonly deliveries: number;
  /** The newest row: note it, and pass it as the anchor next time. */
  readonly head: { readonly id: number; readonly chainSha256: string } | null;
  readonly faults: readonly LedgerFault[];
}

/**
 * Proves that what was acknowledged is still there and unaltered: every row's chain, and for telemetry and brain deliveries the
 * content itself, recomputed. (Sessions grow by design, so a trace delivery's digest records what arrived, not what is held.)
 * @param anchor a head noted earlier; proves that nothing up to it was replaced wholesale
 * @param onProgress told the share done, 0 to 1
 */
export function verifyLedger(
  core: Core,
  anchor: { readonly id: number; readonly chainSha256: string } | undefined,
  onProgress: (share: number) => void,
): LedgerReport {
  // One read transaction: all that is compared is of one instant, whatever a server writes meanwhile.
  core.store.db.exec("BEGIN");
  try {
    return walk(core, anchor, onProgress);
  } finally {
    core.store.db.exec("COMMIT");
  }
}

function walk(
  core: Core,
  anchor: { readonly id: number; readonly chainSha256: string } | undefined,
  onProgress: (share: number) => void,
): LedgerReport {
  const head = ledgerHead(core) ?? null;
  const faults: LedgerFault[] = [];
  const contentOf = { telemetry: telemetryDigest(core), brain: brainDigest(core) };
  let deliveries = 0;
  let anchored = anchor === undefined;
  for (const { row, chained } of walkLedger(core)) {
    deliveries++;
    const fault = (problem: LedgerFault["problem"]) =>
      faults.push({ deliveryId: row.id, kind: row.kind, receivedAt: isoInstant(row.receivedAt), problem });
    if (!chained) fault("chain");
    if (row.kind !== "traces") {
      const digest = contentOf[row.kind](row.id);
      if (!digest || !sameDigest(digest, row.contentSha256)) fault("content");
    }
    if (anchor?.id === row.id) {
      anchored = true;
      if (row.chainSha256.toString("hex") !== anchor.chainSha256) fault("anchor");
    }
    if (deliveries % 100 === 0 && head) onProgress(row.id / head.id);
  }
  if (!anchored) faults.push({ deliveryId: anchor?.id ?? 0, kind: "", receivedAt: "", problem: "anchor" });
  return { deliveries, head, faults };
}
