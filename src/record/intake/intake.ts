/**
 * Intake: the one way of a delivery from a device's request into the store: what the tier includes, the body as slices of the
 * text that was sent, what the capture policy withholds left out, secrets replaced, the device noted as heard of, a row in the ledger.
 * Not here: what a delivery holds and how it is stored (telemetry, brain, traces, pulses), the ledger itself (log).
 */

import type { Core } from "../../core.ts";
import type { DevicePrincipal } from "../../identity/devices/devices.ts";
import { touchDevice } from "../../identity/devices/devices.ts";
import { requireCapability } from "../../identity/teams/teams.ts";
import { sha256 } from "../../kit/hash.ts";
import { fail, tooLarge } from "../../kit/problem.ts";
import { systemRandom } from "../../kit/random.ts";
import { cooperative } from "../../kit/yield.ts";
import { type Delivery, recordDelivery } from "../../log/log.ts";
import { Reply } from "../../platform/http/endpoint.ts";
import { NO_REPO } from "../../platform/http/fields.ts";
import { receiptFor } from "../../platform/transparency/transparency.ts";
import { redactText } from "../../redact/redact.ts";
import { type CaptureMode, captureModeOf, countViolation } from "../policy/policy.ts";

/** What an endpoint that takes deliveries is called with. */
interface DeliveryRequest {
  readonly core: Core;
  readonly principal: DevicePrincipal;
  readonly body: { readonly repoKey?: string | undefined };
  readonly text: string;
}

/** One delivery on its way in. */
export class Intake {
  readonly core: Core;
  readonly device: DevicePrincipal;
  /** Free of secrets; `""` where the client named none. */
  readonly repoKey: string;
  /** What the team lets be recorded, as it was when the delivery came. */
  readonly captureMode: CaptureMode;
  /** Parts of which the policy withholds something; set before `store`, which then counts the delivery as one against the policy. */
  withheld = 0;
  /** To be awaited between small pieces of work, see `kit/yield.ts`. */
  readonly yieldNow: () => Promise<void> | undefined;
  readonly #kind: Delivery["kind"];
  readonly #text: string;
  /** Known to the sender alone once it is answered: with it and the digest a secret that was taken out could be guessed. */
  readonly #salt = systemRandom(16);
  #sentSha256: Buffer | undefined;
  #recorded: number | undefined;
  #isCounted = false;

  /**
   * @param kind also the capability that the device's tier must include
   * @throws Problem tierGate (402)
   */
  constructor({ core, principal, body, text }: DeliveryRequest, kind: Delivery["kind"]) {
    requireCapability(principal.tier, kind);
    this.core = core;
    this.device = principal;
    this.repoKey = body.repoKey === undefined ? NO_REPO : redactText(body.repoKey).text;
    this.captureMode = captureModeOf(core, principal.teamId);
    this.yieldNow = cooperative(core.clock);
    this.#kind = kind;
    this.#text = text;
  }

  /** Runs row changes in a transaction, in which the device is noted as heard of. @param change is given the instant */
  store<T>(change: (now: number) => T): Promise<T> {
    const { core, device } = this;
    return core.store.write(() => {
      const now = core.clock.now();
      touchDevice(core, device, now);
      if (this.withheld > 0 && !this.#isCounted) countViolation(core, device.deviceId, now);
      this.#isCounted = true;
      return change(now);
    });
  }

  /** Appends the delivery, or a part of it, to the log; call inside `store`. @returns its id */
  record(facts: Omit<Delivery, "kind" | "repoKey" | "captureMode" | "sentSha256">): number {
    const { repoKey, captureMode } = this;
    this.#sentSha256 ??= sha256(Buffer.concat([this.#salt, Buffer.from(this.#text)]));
    const sentSha256 = this.#sentSha256;
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
   */
  reply<Body>(body: Body): Reply<Body> {
    const receipt = this.#recorded === undefined ? undefined : receiptFor(this.core, this.#recorded, this.#salt);
    return new Reply(body, receipt === undefined ? {} : { headers: { "reckon-receipt": receipt } });
  }
}

/**
 * Demands that a delivery holds no more of something than is taken at once.
 * @param what as in "The batch has 3 entries": its name and that of what it holds
 * @throws Problem tooLarge (413)
 */
export function requireAtMost(most: number, count: number, [whole, parts]: readonly [string, string]): void {
  if (count > most) fail(tooLarge, `The ${whole} has ${count} ${parts}; at most ${most} fit in one.`);
}

export { requireWholeNumber, SentBody } from "./sent-body.ts";
