import type { Core } from "../../core.ts";
import { deviceFinder } from "../../identity/devices/devices.ts";
import { isoInstant } from "../../kit/clock.ts";
import type { Checkpoint } from "../../kit/transparency/checkpoint.ts";
import {
  type DeliveryKind,
  findDelivery,
  type LedgerStep,
  type Mismatch,
  newestDelivery,
  walkLedger,
} from "../../log/log.ts";
import { type AuditStep, walkAudit } from "../../platform/audit/audit.ts";
import { keyFaults } from "../../platform/keys/keys.ts";
import {
  epochs,
  hasTree,
  isImportSound,
  isLeaf,
  logImports,
  recomputeTree,
  signedBeside,
} from "../../platform/transparency/transparency.ts";
import { brainDeliveries } from "../../record/brain/brain.ts";
import { telemetryDeliveries } from "../../record/telemetry/telemetry.ts";
import { traceDeliveries } from "../../record/traces/traces.ts";
import { notedErasure } from "../erasure/erasure.ts";
import { LoggedErasures, NO_ERASURE } from "./logged-erasures.ts";

/** Whatever is delivered, as its room registers it. */
const KINDS: readonly DeliveryKind[] = [telemetryDeliveries, brainDeliveries, traceDeliveries];

export interface LedgerFault {
  /** 0 where what is wrong is of no delivery. */
  readonly deliveryId: number;
  readonly kind: string;
  /** Empty where there is no such delivery. */
  readonly receivedAt: string;
  /** `chain`, `anchor` and `erasure` (that the log does not tell of) are of the deliveries' own rows, the others of what is held of them. */
  readonly problem: "chain" | "anchor" | "erasure" | Mismatch["problem"];
  /** Which row, and what of it, for people. Where there are several, the first of them and how many more. */
  readonly detail: string;
}

export interface LedgerReport {
  readonly deliveries: number;
  /**
   * The tree's size and its root: note them, and pass them as the anchor next time. Of a database from before there was a tree the
   * newest delivery and its chain.
   */
  readonly head: LedgerHead | null;
  /** The size that the checkpoint beside the database signs; null where none is of this log: the newest leaves may have been cut off. */
  readonly signed: number | null;
  /** How many of them something was erased of. */
  readonly erased: number;
  readonly faults: readonly LedgerFault[];
}

export interface LedgerHead {
  readonly id: number;
  /** In hexadecimal digits. */
  readonly chainSha256: string;
}

/**
 * Compares what was acknowledged with what is stored: every leaf of the tree with the delivery, event or epoch that it is of, the
 * tree with what was signed of it; the content of telemetry, brain files, sessions, spans and labels, made anew; of everything that
 * was delivered, whose it is and that a delivery brought it; and what is said to be the newest.
 * @param anchor a head noted earlier; proves that nothing up to it was replaced wholesale
 * @param onProgress told the share done, 0 to 1
 * @throws SqliteError where the file is damaged; the store is of no use then but to be closed
 */
export function verifyLedger(
  core: Core,
  anchor: LedgerHead | undefined,
  onProgress: (share: number) => void,
): LedgerReport {
  // Before all else: what a server signs meanwhile is of leaves that are not read here.
  const signed = signedBeside(core);
  // One read transaction: all that is compared is of one instant, whatever a server writes meanwhile.
  core.store.db.exec("BEGIN");
  const report = walk(core, { anchor, signed }, onProgress);
  core.store.db.exec("COMMIT");
  return report;
}

/** The share of the time that reading deliveries takes; the rest goes into computing the tree again. */
const DELIVERIES_SHARE = 0.9;

/** What the log was before, as far as that is known apart from it. */
interface Known {
  readonly anchor: LedgerHead | undefined;
  readonly signed: Checkpoint | undefined;
}

function walk(core: Core, known: Known, onProgress: (share: number) => void): LedgerReport {
  const { anchor } = known;
  const signed = known.signed?.size ?? null;
  const faults = new Faults();
  for (const { problem, detail } of keyFaults(core)) faults.report({ deliveryId: 0, kind: "key", problem, detail });
  const claimed = new Set<number>();
  const erasures = hasTree(core) ? walkEvents(core, faults, claimed, false) : undefined;
  const { deliveries, erased, chain, anchored } = walkDeliveries(core, erasures, anchor, faults, claimed, (share) =>
    onProgress(share * DELIVERIES_SHARE),
  );
  if (!erasures) {
    if (anchor && !anchored) faults.report(noted(anchor, "there is no such delivery any more"));
    return { deliveries, erased, head: chain, signed, faults: faults.all(core) };
  }
  for (const { leaf, holds } of epochs(core)) {
    claimed.add(leaf);
    if (!holds) faults.report({ deliveryId: leaf, kind: "epoch", problem: "chain", detail: "it was forged" });
  }
  const head = compareTree(core, anchored ? { ...known, anchor: undefined } : known, faults, claimed);
  return { deliveries, erased, head, signed, faults: faults.all(core) };
}

/**
 * Compares what is held of one team, apart from its instance, with the leaves of its deliveries, events and imports. That those are in
 * a log is for the caller to prove.
 */
export function verifyExcerpt(core: Core, onProgress: (share: number) => void): readonly LedgerFault[] {
  const faults = new Faults();
  const claimed = new Set<number>();
  walkDeliveries(core, walkEvents(core, faults, claimed, true), undefined, faults, claimed, onProgress);
  return faults.all(core);
}

/** The events of the audit, and what says where leaves came from. @returns what is told of erasures */
function walkEvents(core: Core, faults: Faults, claimed: Set<number>, isExcerpt: boolean): LoggedErasures {
  const names = new DeviceNames();
  const erasures = new LoggedErasures(core, isExcerpt);
  const imports = logImports(core);
  const arrived = new Set<string | null>(imports.map(({ facts }) => facts.team));
  // A team brings along what was recorded of it before there was a tree.
  const onStray = (id: number, teamId: string | null) => {
    if (!arrived.has(teamId))
      faults.report({ deliveryId: 0, kind: "event", problem: "stray", detail: `event ${id} is no leaf of the log` });
  };
  for (const step of walkAudit(core, onStray)) {
    const { leaf, holds } = step;
    claimed.add(leaf);
    names.take(step);
    erasures.take(step);
    if (!holds) faults.report({ deliveryId: leaf, kind: "event", problem: "chain", detail: "the event was altered" });
  }
  for (const { leaf, detail } of erasures.atEvents())
    faults.report({ deliveryId: leaf, kind: "event", problem: "erasure", detail });
  for (const leaf of names.contradicted(core))
    faults.report({ deliveryId: leaf, kind: "event", problem: "owner", detail: "its device has another name now" });
  for (const { leaf, text, facts } of imports) {
    if (isLeaf(core, leaf, text)) claimed.add(leaf);
    if (!isImportSound(core, leaf, facts))
      faults.report({
        ...{ deliveryId: leaf, kind: "import", problem: "chain" },
        detail: `the leaves that came with it are not those that ${facts.origin} signed`,
      });
  }
  return erasures;
}

/** @returns how many there are; the newest that was chained; whether the anchor is one of those */
function walkDeliveries(
  core: Core,
  erasures: LoggedErasures | undefined,
  anchor: LedgerHead | undefined,
  faults: Faults,
  claimed: Set<number>,
  onProgress: (share: number) => void,
): { deliveries: number; erased: number; chain: LedgerHead | null; anchored: boolean } {
  const newest = newestDelivery(core);
  const checks = new Map(
    KINDS.map(({ kind, openCheck }) => [
      kind,
      openCheck(core, newest, (deliveryId, problem, detail) => faults.report({ deliveryId, kind, problem, detail })),
    ]),
  );
  let deliveries = 0;
  let erased = 0;
  let chain: LedgerHead | null = null;
  let anchored = false;
  try {
    for (const step of walkLedger(core, erasures !== undefined)) {
      const { row, chainSha256 } = step;
      const { id: deliveryId, kind } = row;
      deliveries++;
      claimed.add(deliveryId);
      erased += Number(row.erasedBy !== null);
      for (const wrong of wrongOf(core, erasures, step)) faults.report({ deliveryId, kind, ...wrong });
      const check = checks.get(kind);
      if (check) check.check(row);
      else faults.report({ deliveryId, kind, problem: "content", detail: "there are no deliveries of this kind" });
      if (chainSha256) chain = { id: deliveryId, chainSha256: chainSha256.toString("hex") };
      if (chainSha256 && anchor?.id === deliveryId) anchored = chain?.chainSha256 === anchor.chainSha256;
      if (deliveries % 100 === 0) onProgress(deliveryId / newest);
    }
    for (const check of checks.values()) check.finish();
  } finally {
    // A transaction cannot end while something is being read.
    for (const check of checks.values()) check.close();
  }
  return { deliveries, erased, chain, anchored };
}

const noted = ({ id }: LedgerHead, detail: string): Finding => ({
  deliveryId: id,
  kind: "",
  problem: "anchor",
  detail,
});

/** Actions whose event says what a device is called from then on. */
const NAMING = new Set(["device.connected", "device.renamed"]);

/** What devices are called, as the audit last told. */
class DeviceNames {
  readonly #named = new Map<string, { readonly leaf: number; readonly label: string | null }>();

  take({ leaf, event, isErased }: AuditStep): void {
    if (!event?.targetId || !NAMING.has(event.action)) return;
    if (isErased) this.#named.delete(event.targetId);
    else this.#named.set(event.targetId, { leaf, label: event.targetLabel });
  }

  /** @returns the leaves of events that name a device otherwise than it is called; an erased one has no name */
  *contradicted(core: Core): Generator<number> {
    const deviceOf = deviceFinder(core);
    for (const [id, { leaf, label }] of this.#named) {
      const device = deviceOf(id);
      if (device && device.label !== label && device.label !== `erased-${id}`) yield leaf;
    }
  }
}

/** Compares the tree with what is held, with what was signed of it last, and with what was noted of it. */
function compareTree(
  core: Core,
  { anchor, signed }: Known,
  faults: Faults,
  claimed: ReadonlySet<number>,
): LedgerHead | null {
  const tree = recomputeTree(core, [anchor?.id ?? 0, signed?.size ?? 0], (n) => claimed.has(n));
  const fault = (leaf: number, detail: string) =>
    faults.report({ deliveryId: leaf, kind: findDelivery(core, leaf)?.kind ?? "", problem: "chain", detail });
  for (const { leaf, detail } of tree.faults) fault(leaf, detail);
  const { size, root } = tree.head;
  const rootOf = (at: number) => tree.roots.get(at)?.toString("hex");
  if (signed && signed.size > size) fault(signed.size, `the log was signed with ${signed.size} leaves and has ${size}`);
  else if (signed && rootOf(signed.size) !== signed.root.toString("hex"))
    fault(signed.size, "the log up to it is not the one that was signed");
  if (anchor && anchor.id > size) faults.report(noted(anchor, `the log has ${size} leaves`));
  else if (anchor && rootOf(anchor.id) !== anchor.chainSha256)
    faults.report(noted(anchor, "the log up to it is not the one that was noted"));
  return size === 0 ? null : { id: size, chainSha256: root.toString("hex") };
}

type Finding = Omit<LedgerFault, "receivedAt">;

/** What a delivery's own row shows. */
function* wrongOf(
  core: Core,
  erasures: LoggedErasures | undefined,
  step: LedgerStep,
): Generator<Pick<Finding, "problem" | "detail">> {
  const { chained, foreign, astray, row } = step;
  if (!chained) yield { problem: "chain", detail: "it, or what stood before it, was altered or removed" };
  if (erasures?.isNoArrival(row))
    yield { problem: "chain", detail: "it claims to come from another log, but no import brought it" };
  const isNoted = row.erasedBy === null || notedErasure(core, row.erasedBy) !== undefined;
  const unbacked = erasures ? erasures.atDelivery(row) : isNoted ? undefined : NO_ERASURE;
  if (unbacked) yield { problem: "erasure", detail: unbacked };
  if (foreign) yield { problem: "owner", detail: "its device is not its team's" };
  if (astray) yield { problem: "newest", detail: "no stream ends with it" };
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
        const { receivedAt = Number.NaN } = findDelivery(core, first.deliveryId) ?? {};
        // Somebody may have put there what is no instant.
        const at = new Date(receivedAt).getTime();
        return {
          ...first,
          receivedAt: Number.isNaN(at) ? "" : isoInstant(at),
          detail: times === 1 ? first.detail : `${first.detail} (and ${times - 1} more)`,
        };
      });
  }
}
