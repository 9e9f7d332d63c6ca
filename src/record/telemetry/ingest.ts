import * as v from "valibot";
import { type DevicePrincipal, device } from "../../identity/devices/devices.ts";
import { tierGate } from "../../identity/teams/teams.ts";
import { endpoint, prepared } from "../../platform/http/endpoint.ts";
import { inShape } from "../../platform/http/faults.ts";
import { Count } from "../../platform/http/fields.ts";
import { admit, Intake } from "../intake/intake.ts";
import { deliverBatch } from "./deliver.ts";
import { readTelemetry, TelemetryBatch } from "./read-batch.ts";

/** Takes a batch of entries; 200 means that they survive a power cut. */
export const ingest = endpoint(
  {
    id: "telemetryIngest",
    method: "POST",
    path: "/api/telemetry/ingest",
    summary: "Append telemetry entries",
    tag: "Telemetry",
    auth: device,
    body: {
      schema: TelemetryBatch,
      maxBytes: (config) => config.maxTelemetryBytes,
      gzip: true,
      freeForm: true,
      prepare: prepared(readTelemetry, (core, principal: DevicePrincipal) => ({
        ...admit(core, principal, "telemetry"),
        maxEntries: core.config.maxTelemetryEntries,
        maxPayloadBytes: core.config.maxTelemetryPayloadBytes,
      })),
    },
    ok: v.object({
      ok: v.boolean(),
      accepted: v.pipe(
        Count,
        v.description(
          "Entries newly stored; a retry of stored ones counts none, and neither does what the capture mode `off` withholds.",
        ),
      ),
      maxSeq: v.pipe(Count, v.description("The stream's highest sequence number.")),
      flagged: v.pipe(
        v.nullable(v.picklist(["gap", "rollback"])),
        v.description(
          "gap: sequence numbers are missing below; rollback: a number came again with other content, which is kept apart as evidence.",
        ),
      ),
      serverRedacted: v.pipe(Count, v.description("Entries in which the server removed a secret.")),
    }),
    faults: [...inShape("tierGate", tierGate)],
    limits: [{ name: "telemetry", quota: (config) => config.limitTelemetry, per: "team", headers: "limited" }],
    example: {
      ok: { ok: true, accepted: 1, maxSeq: 1, flagged: null, serverRedacted: 0 },
      body: {
        repoKey: "github.com/acme/shop",
        entries: [
          { seq: 1, payload: { type: "prompt", text: "Fix the login test" }, clientTimestamp: "2026-11-21T08:00:00Z" },
        ],
      },
    },
  },
  async (request) => {
    const { body: batch } = request;
    const intake = new Intake(request, "telemetry", batch);
    intake.withheld = batch.withheld;
    const appended = await deliverBatch(intake, batch, batch.captureMode === "off");
    return intake.reply({ ok: true, ...appended, serverRedacted: batch.redacted });
  },
);
