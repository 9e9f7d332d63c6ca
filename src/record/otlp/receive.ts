import * as v from "valibot";
import type { Core } from "../../core.ts";
import { OTLP_STREAM } from "../../formats/exported.ts";
import { type DevicePrincipal, device } from "../../identity/devices/devices.ts";
import { tierGate, tierHas } from "../../identity/teams/teams.ts";
import { problem } from "../../kit/problem.ts";
import { bytesField, varintField } from "../../kit/protobuf.ts";
import { type Call, type Endpoint, endpoint, prepared, Reply } from "../../platform/http/endpoint.ts";
import { isProtobuf, PROTOBUF } from "../../platform/http/media.ts";
import { counter } from "../../platform/metrics/metrics.ts";
import { admit, Intake } from "../intake/intake.ts";
import { appendUnnumbered } from "../telemetry/telemetry.ts";
import { sessionPieces } from "../traces/traces.ts";
import { REQUESTS, type ReadyRequest, readOtlp } from "./prepare.ts";
import type { Signal } from "./protobuf.ts";
import { MAX_ATTRIBUTES } from "./records.ts";
import { placesOf, rememberNamelessSum, rememberPlaces, tellsNamelessSums } from "./remembered-traces.ts";
import { takeNew } from "./seen.ts";

const MAX_BYTES = 8 * 1024 * 1024;
/** Entries of one transaction: everybody else waits while it stores them. */
const MAX_ENTRIES = 500;

export const received = counter("reckon_otlp_records_total", "Log records, spans and data points received by OTLP.");

/** Waiting does not help where a tier includes none of it, and exporters try 402 again. */
const tierForbidden = problem({ ...tierGate, status: 403 });

/** What is rejected is called by its signal. */
const REJECTED = { logs: "rejectedLogRecords", traces: "rejectedSpans", metrics: "rejectedDataPoints" } as const;
/** What a device's tier must include. */
const CAPABILITIES = { logs: "telemetry", traces: "traces", metrics: "telemetry" } as const;

const Reject = v.optional(v.pipe(v.string(), v.regex(/^\d+$/), v.description("How many; an integer of 64 bits.")));
const Ok = v.object({
  partialSuccess: v.optional(
    v.object({
      rejectedLogRecords: Reject,
      rejectedSpans: Reject,
      rejectedDataPoints: Reject,
      errorMessage: v.string(),
    }),
  ),
});
type Ok = v.InferOutput<typeof Ok>;

/** Declares the receiver of one signal (OTLP 1.x, https://opentelemetry.io/docs/specs/otlp/#otlphttp). */
export const receiver = (
  signal: Signal,
  names: { readonly id: string; readonly summary: string; readonly example: object },
): Endpoint =>
  endpoint(
    {
      id: names.id,
      method: "POST",
      path: `/v1/${signal}`,
      alias: `/otlp/v1/${signal}`,
      summary: names.summary,
      tag: "OpenTelemetry",
      auth: device,
      body: {
        schema: REQUESTS[signal] as v.GenericSchema<unknown, object>,
        maxBytes: () => MAX_BYTES,
        gzip: true,
        protobuf: true,
        optional: true,
        freeForm: true,
        prepare: prepared(
          readOtlp(signal, sessionPieces),
          (core, principal: DevicePrincipal) => ({
            ...admit(core, principal, CAPABILITIES[signal]),
            deviceId: principal.deviceId,
            hasSessions: tierHas(principal.tier, "traces"),
            tellsNamelessSums: tellsNamelessSums(core, principal.deviceId),
          }),
          (core, { deviceId }, traceIds: readonly string[]) => placesOf(core, deviceId, traceIds),
        ),
      },
      ok: Ok,
      renditions: [{ media: PROTOBUF, schema: Ok }],
      faults: [tierForbidden],
      errorShape: "rpcStatus",
      limits: [{ name: `otlp-${signal}`, quota: (config) => config.limitTelemetry, per: "team", headers: "limited" }],
      example: { ok: {}, body: names.example },
    },
    (call: Call<DevicePrincipal, undefined, ReadyRequest<SessionBatch>>) => receive(signal, call),
  );

type SessionBatch = Parameters<typeof sessionPieces.deliver>[1];

async function receive(
  signal: Signal,
  { core, principal, body, header }: Call<DevicePrincipal, undefined, ReadyRequest<SessionBatch>>,
): Promise<Reply<Ok>> {
  await store(core, principal, body);
  const { records, dropped, rejected } = body;
  for (const [fate, count] of [
    ["recorded", records - dropped - rejected],
    ["dropped", dropped],
    ["rejected", rejected],
  ] as const)
    received.count(core, { signal, fate }, count);
  const ok: Ok =
    rejected === 0
      ? {}
      : {
          partialSuccess: {
            [REJECTED[signal]]: String(rejected),
            errorMessage: `Some are not of their declared form, or have more than ${MAX_ATTRIBUTES} attributes.`,
          },
        };
  if (!isProtobuf(header("content-type"))) return new Reply(ok);
  return new Reply(ok, { media: PROTOBUF, content: encode(ok, rejected) });
}

/** An Export…ServiceResponse: those of the three signals are alike. */
function encode({ partialSuccess }: Ok, rejected: number): Buffer {
  if (!partialSuccess) return Buffer.alloc(0);
  return bytesField(1, Buffer.concat([varintField(1, rejected), bytesField(2, partialSuccess.errorMessage)]));
}

/** Entries first, some hundreds a transaction, then sessions: whoever sends a request again finds what was stored already. */
async function store(
  core: Core,
  principal: DevicePrincipal,
  { captureMode, sent, entries, sessions, redacted, withheld, named, hasNamelessSum }: ReadyRequest<SessionBatch>,
): Promise<void> {
  const request = { core, principal };
  const intake = new Intake(request, "telemetry", { captureMode, sent, repoKey: OTLP_STREAM });
  intake.withheld = withheld;
  for (let from = 0; (from === 0 && !sessions) || from < entries.length; from += MAX_ENTRIES) {
    const some = entries.slice(from, from + MAX_ENTRIES);
    await intake.store((now) => appendUnnumbered(intake, takeNew(core, some, now), from === 0 ? redacted : 0, now));
    // Only the first part says what concerns the request as a whole.
    intake.withheld = 0;
  }
  if (sessions) {
    const traces = new Intake(request, "traces", { captureMode, sent, repoKey: "" });
    // Counted once, as one delivery against the policy.
    traces.withheld = withheld > 0 ? 0 : sessions.withheld;
    await sessionPieces.deliver(traces, sessions);
  }
  rememberPlaces(core, principal.deviceId, named);
  if (hasNamelessSum) rememberNamelessSum(core, principal.deviceId);
}
