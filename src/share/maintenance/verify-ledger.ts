import type { Core } from "../../core.ts";
import { isoInstant } from "../../kit/clock.ts";
import {
  type DeliveryKind,
  findDelivery,
  type LedgerStep,
  ledgerHead,
  type Mismatch,
  walkLedger,
} from "../../log/log.ts";
import { brainDeliveries } from "../../record/brain/brain.ts";
import { telemetryDeliveries } from "../../record/telemetry/telemetry.ts";
import { traceDeliveries } from "../../record/traces/traces.ts";
import { isOnRecord } from "../erasure/erasure.ts";

/** Whatever is delivered, as its room registers it. */
const KINDS: readonly DeliveryKind[] = [telemetryDeliveries, brainDeliveries, traceDeliveries];

export interface LedgerFault {
  /** 0 where what is wrong is of no delivery. */
  readonly deliveryId: number;
  readonly kind: string;
  /** Empty where there is no such delivery. */
  readonly receivedAt: string;
  /** `chain`, `anchor` and `erasure` (that is not on record) are of the deliveries' own rows, the others of what is held of them. */
  readonly problem: "chain" | "anchor" | "erasure" | Mismatch["problem"];
  /** Which row, and what of it, for people. Where there are several, the first of them and how many more. */
  readonly detail: string;
}

export interface LedgerReport {
  readonly deliveries: number;
  /** The newest row: note it, and pass it as the anchor next time. */
  readonly head: { readonly id: number; readonly chainSha256: string } | null;
  /** How many of them something was erased of. */
  readonly erased: number;
  readonly faults: readonly LedgerFault[];
}

type Anchor = { readonly id: number; readonly chainSha256: string } | undefined;

/**
 * Compares what was acknowledged with what is stored: every row's chain; the content of telemetry, brain files and labels,
 * recomputed; of everything that was delivered, whose it is and that a delivery brought it; and what is said to be the newest.
 * (Sessions grow by design, so a trace delivery's digest records what arrived, not what is stored.)
 * @param anchor a head noted earlier; proves that nothing up to it was replaced wholesale
 * @param onProgress told the share done, 0 to 1
 */
export function verifyLedger(core: Core, anchor: Anchor, onProgress: (share: number) => void): LedgerReport {
  // One read transaction: all that is compared is of one instant, whatever a server writes meanwhile.
  core.store.db.exec("BEGIN");
  try {
    return walk(core, anchor, onProgress);
  } finally {
    core.store.db.exec("COMMIT");
  }
}

function walk(core: Core, anchor: Anchor, onProgress: (share: number) => void): LedgerReport {
  const head = ledgerHead(core) ?? null;
  const faults = new Faults();
  const newest = head?.id ?? 0;
  const checks = new Map(
    KINDS.map(({ kind, openCheck }) => [
      kind,
      openCheck(core, newest, (deliveryId, problem, detail) => faults.report({ deliveryId, kind, problem, detail })),
    ]),
  );
  let deliveries = 0;
  let erased = 0;
  let anchored = anchor === undefined;
  try {
    for (const step of walkLedger(core)) {
      const { row } = step;
      const { id: deliveryId, kind } = row;
      deliveries++;
      erased += Number(row.erasedBy !== null);
      for (const wrong of wrongOf(core, step)) faults.report({ deliveryId, kind, ...wrong });
      const check = checks.get(kind);
      if (!check) throw new Error(`no room stores deliveries of the kind "${kind}"`);
      check.check(row);
      if (anchor?.id === deliveryId) {
        anchored = true;
        if (row.chainSha256.toString("hex") !== anchor.chainSha256)
          faults.report({ deliveryId, kind, problem: "anchor", detail: "its hash is not the one that was noted" });
      }
      if (deliveries % 100 === 0) onProgress(deliveryId / newest);
    }
    for (const check of checks.values()) check.finish();
  } finally {
    // A transaction cannot end while something is being read.
    for (const check of checks.values()) check.close();
  }
  if (anchor && !anchored)
    faults.report({ deliveryId: anchor.id, kind: "", problem: "anchor", detail: "there is no such delivery any more" });
  return { deliveries, head, erased, faults: faults.all(core) };
}

type Finding = Omit<LedgerFault, "receivedAt">;

/** What a delivery's own row shows. */
function* wrongOf(core: Core, step: LedgerStep): Generator<Pick<Finding, "problem" | "detail">> {
  const { chained, foreign, row } = step;
  if (!chained) yield { problem: "chain", detail: "it, or what stood before it, was altered or removed" };
  if (row.erasedBy !== null && !isOnRecord(core, row.erasedBy))
    yield { problem: "erasure", detail: "it is said to be erased, by no erasure on record" };
  if (foreign) yield { problem: "owner", detail: "its device is another team's" };
}

/** One for each delivery and problem, however many rows are concerned. */
class Faults {
  readonly #findings = new Map<string, { readonly first: Finding; times: number }>();

  readonly report = (fault: Finding): void => {
    const name = `${fault.deliveryId} ${fault.kind} ${fault.problem}`;
    const known = this.#findings.get(name);
    if (known) known.times++;
    else this.#findings.set(name, { first: fault, times: 1 });
  };

  all(core: Core): LedgerFault[] {
    return [...this.#findings.values()]
      .sort((a, b) => a.first.deliveryId - b.first.deliveryId)
      .map(({ first, times }) => {
        const at = findDelivery(core, first.deliveryId)?.receivedAt;
        return {
          ...first,
          receivedAt: at === undefined ? "" : isoInstant(at),
          detail: times === 1 ? first.detail : `${first.detail} (and ${times - 1} more)`,
        };
      });
  }
}
