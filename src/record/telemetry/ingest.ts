import * as v from "valibot";
import { device } from "../../identity/devices/devices.ts";
import { tierGate } from "../../identity/teams/teams.ts";
import { endpoint } from "../../platform/http/endpoint.ts";
import { inShape } from "../../platform/http/faults.ts";
import { Count, Counter, DateTime, FreeObject, identifier, RepoKey } from "../../platform/http/fields.ts";
import { redactText } from "../../redact/redact.ts";
import { Intake, requireAtMost } from "../intake/intake.ts";
import { appendBatch, withholdBatch } from "./append.ts";
import { readBatch } from "./read-batch.ts";

const TelemetryBatch = v.object({
  entries: v.array(
    v.object({
      seq: v.pipe(Counter, v.description("Sequence number, counting up per device and repository.")),
      payload: v.pipe(FreeObject, v.description("Kept as sent, after redaction.")),
      clientTimestamp: v.optional(DateTime),
    }),
  ),
  mode: v.optional(identifier(100)),
  repoKey: v.optional(RepoKey),
});

/** Takes a batch of entries; 200 means that they survive a power cut. */
export const ingest = endpoint(
  {
    id: "telemetryIngest",
    method: "POST",
    path: "/api/telemetry/ingest",
    summary: "Append telemetry entries",
    tag: "Telemetry",
    auth: device,
    body: { schema: TelemetryBatch, maxBytes: (config) => config.maxTelemetryBytes, gzip: true, freeForm: true },
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
    const { body, text } = request;
    const intake = new Intake(request, "telemetry");
    const { maxTelemetryEntries } = intake.core.config;
    requireAtMost(maxTelemetryEntries, body.entries.length, ["batch", "entries"]);
    if (intake.captureMode === "off") {
      intake.withheld = body.entries.length;
      const seqs = body.entries.map(({ seq }) => seq);
      return { ok: true, ...(await intake.store((now) => withholdBatch(intake, seqs, now))), serverRedacted: 0 };
    }
    const { withheld, ...read } = await readBatch(
      text,
      body.entries,
      intake.core.config,
      intake.captureMode,
      intake.yieldNow,
    );
    const isFreeText = intake.captureMode === "metadata" && /\s/.test(body.mode ?? "");
    const mode = body.mode === undefined || isFreeText ? null : redactText(body.mode).text;
    intake.withheld = withheld;
    const appended = await intake.store((now) => appendBatch(intake, { ...read, mode }, now));
    return { ok: true, ...appended, serverRedacted: read.redacted };
  },
);
