/**
 * Intake: the one way of a delivery from a device's request into the store: what the tier includes and the capture policy lets be
 * recorded, the device noted as heard of, a row in the ledger.
 * Not here: how its body is made ready (sent body), what a delivery holds and how it is stored (telemetry, brain, traces, pulses), the
 * ledger itself (log).
 */

import type { Core } from "../../core.ts";
import type { DevicePrincipal } from "../../identity/devices/devices.ts";
import { touchDevice } from "../../identity/devices/devices.ts";
import { requireCapability } from "../../identity/teams/teams.ts";
import { type Delivery, recordDelivery } from "../../log/log.ts";
import { Reply } from "../../platform/http/endpoint.ts";
import { receiptFor } from "../../platform/transparency/transparency.ts";
import { type CaptureMode, captureModeOf, countViolation } from "../policy/policy.ts";
import type { SentDigest } from "../sent-body/sent-body.ts";

/** Who delivers. */
interface DeliveryRequest {
  readonly core: Core;
  readonly principal: DevicePrincipal;
}

/** What is decided of a delivery before it is looked at. */
export interface Admitted {
  /** What it was admitted with. */
  readonly captureMode: CaptureMode;
}

/**
 * Decides whether a device may deliver something.
 * @param kind also the capability that the device's tier must include
 * @throws Problem tierGate (402)
 */
export function admit(core: Core, { tier, teamId }: DevicePrincipal, kind: Delivery["kind"]): Admitted {
  requireCapability(tier, kind);
  return { captureMode: captureModeOf(core, teamId) };
}

/** One delivery on its way in. */
export class Intake {
  readonly core: Core;
  readonly device: DevicePrincipal;
  /** Free of secrets; `""` where the client named none. */
  readonly repoKey: string;
  /** What it was admitted with. */
  readonly captureMode: CaptureMode;
  /** Parts of which the policy withholds something; set before `store`, which then counts the delivery as one against the policy. */
  withheld = 0;
  readonly #kind: Delivery["kind"];
  readonly #sent: SentDigest;
  #recorded: number | undefined;
  #isCounted = false;

  /** @param ready what is known of the delivery once its body is ready */
  constructor(
    { core, principal }: DeliveryRequest,
    kind: Delivery["kind"],
    ready: Admitted & { readonly repoKey: string; readonly sent: SentDigest },
  ) {
    this.core = core;
    this.device = principal;
    this.repoKey = ready.repoKey;
    this.captureMode = ready.captureMode;
    this.#kind = kind;
    this.#sent = ready.sent;
  }

  /**
   * Runs row changes in a transaction, in which the device is noted as heard of.
   * @param change is given the instant
   * @throws Problem unauthorized (401) once the device is no longer bound
   */
  store<T>(change: (now: number) => T): Promise<T> {
    const { core, device } = this;
    const payer = { team: device.teamId, credential: device.deviceId };
    return core.store.write(() => {
      const now = core.clock.now();
      touchDevice(core, device, now);
      if (this.withheld > 0 && !this.#isCounted) countViolation(core, device.deviceId, now);
      this.#isCounted = true;
      return change(now);
    }, payer);
  }

  /** Appends the delivery, or a part of it, to the log; call inside `store`. @returns its id */
  record(facts: Omit<Delivery, "kind" | "repoKey" | "captureMode" | "sentSha256">): number {
    const { repoKey, captureMode } = this;
    const sentSha256 = Buffer.from(this.#sent.sha256, "hex");
    this.#recorded = recordDelivery(this.core, this.device, {
      ...facts,
      kind: this.#kind,
      repoKey,
      captureMode,
      sentSha256,
    });
    return this.#recorded;
  }

  /**
   * A success, with the receipt of what was appended last; a delivery that changed nothing has none.
   * @param body awaited after `store`: a receipt is of what is durable
   * @param headers besides
   */
  reply<Body>(body: Body, headers: Readonly<Record<string, string>> = {}): Reply<Body> {
    const receipt = this.#recorded === undefined ? undefined : receiptFor(this.core, this.#recorded, this.#sent.salt);
    return new Reply(body, { headers: receipt === undefined ? headers : { ...headers, "reckon-receipt": receipt } });
  }
}
