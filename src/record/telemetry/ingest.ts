import * as v from "valibot";
import type { Config } from "../../config.ts";
import { device } from "../../identity/devices/devices.ts";
import { tierGate } from "../../identity/teams/teams.ts";
import { duplicateKey, findMember, type Member, members } from "../../kit/json.ts";
import { fail, malformed, tooLarge } from "../../kit/problem.ts";
import { deliveryItems } from "../../log/log.ts";
import { endpoint } from "../../platform/http/endpoint.ts";
import { inShape } from "../../platform/http/faults.ts";
import { Count, Counter, DateTime, FreeObject, identifier, RepoKey } from "../../platform/http/fields.ts";
import { redactText } from "../../redact/redact.ts";
import { Intake, requireAtMost, requireWholeNumber, SentBody } from "../intake/intake.ts";
import { appendBatch, withholdBatch } from "./append.ts";
import { type Entry, entryText } from "./rules.ts";

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

type ParsedEntry = v.InferOutput<typeof TelemetryBatch>["entries"][number];

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
      const taken = await intake.store((now) => withholdBatch(intake, seqs, now));
      return intake.reply({ ok: true, ...taken, serverRedacted: 0 });
    }
    const sent = await SentBody.open(text, intake.yieldNow, intake.captureMode);
    const entries = await readEntries(intake.core.config, body.entries, sent);
    const isFreeText = intake.captureMode === "metadata" && /\s/.test(body.mode ?? "");
    const mode = body.mode === undefined || isFreeText ? null : redactText(body.mode).text;
    const content = deliveryItems(intake.repoKey, mode, entries.map(entryText));
    const batch = { mode, entries, content, redacted: sent.redacted };
    intake.withheld = sent.withheld;
    const appended = await intake.store((now) => appendBatch(intake, batch, now));
    return intake.reply({ ok: true, ...appended, serverRedacted: sent.redacted });
  },
);

/** Takes each payload as its own slice of the text, redacted where need be, in ascending order of seq. */
async function readEntries(config: Config, parsed: readonly ParsedEntry[], sent: SentBody): Promise<Entry[]> {
  const slices = sent.list("entries");
  const entries: Entry[] = [];
  for (const [i, { seq, clientTimestamp = null }] of parsed.entries()) {
    await sent.yieldNow();
    const payload = payloadAt(config, sent.text, slices[i]?.start as number, i);
    entries.push({ seq, clientTimestamp, payload: sent.isKeptAsSent ? payload : await sent.clean(payload, "payload") });
  }
  return entries.sort((a, b) => a.seq - b.seq);
}

function payloadAt(config: Config, text: string, start: number, i: number): string {
  const own = members(text, start);
  if (duplicateKey(own) !== undefined) fail(malformed, `Entry ${i} names a member twice.`);
  requireWholeNumber(text, own, "seq", `The seq of entry ${i}`);
  const { start: from, end: to } = findMember(own, "payload") as Member;
  const payload = text.slice(from, to);
  // Three bytes at most for a UTF-16 unit: only a payload that could be too large is measured.
  if (
    payload.length * 3 > config.maxTelemetryPayloadBytes &&
    Buffer.byteLength(payload) > config.maxTelemetryPayloadBytes
  )
    fail(tooLarge, `The payload of entry ${i} exceeds ${config.maxTelemetryPayloadBytes} bytes.`);
  return payload;
}
