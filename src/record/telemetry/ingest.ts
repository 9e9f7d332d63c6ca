import * as v from "valibot";
import type { Config } from "../../config.ts";
import type { Core } from "../../core.ts";
import { requireCapability, tierGate } from "../../identity/accounts/accounts.ts";
import { sha256 } from "../../kit/hash.ts";
import { duplicateKey, elements, findMember, isWholeNumber, type Member, members } from "../../kit/json.ts";
import { fail, malformed, tooLarge } from "../../kit/problem.ts";
import { cooperative } from "../../kit/yield.ts";
import { endpoint } from "../../platform/http/endpoint.ts";
import { inShape } from "../../platform/http/faults.ts";
import { Count, Counter, DateTime, FreeObject, identifier, NO_REPO, RepoKey } from "../../platform/http/fields.ts";
import { mightLongHoldSecret, redactLongJson, redactText } from "../../redact/redact.ts";
import { appendBatch } from "./append.ts";
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

interface SentEntry {
  readonly seq: number;
  readonly clientTimestamp?: string | undefined;
}

/** Takes a batch of entries; 200 means that they survive a power cut. */
export const ingest = endpoint(
  {
    id: "telemetryIngest",
    method: "POST",
    path: "/api/telemetry/ingest",
    summary: "Append telemetry entries",
    tag: "Telemetry",
    auth: "device",
    body: { schema: TelemetryBatch, maxBytes: (config) => config.maxTelemetryBytes, gzip: true, freeForm: true },
    ok: v.object({
      ok: v.boolean(),
      accepted: v.pipe(Count, v.description("Entries newly stored; a retry of stored ones counts none.")),
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
  async ({ core, principal, body, text }) => {
    requireCapability(principal.tier, "telemetry");
    const { entries, redacted } = await readEntries(core, body.entries, text);
    const digest = sha256(entries.map(entryText).join(""));
    const repoKey = body.repoKey === undefined ? NO_REPO : redactText(body.repoKey).text;
    const mode = body.mode === undefined ? null : redactText(body.mode).text;
    const appended = await core.store.write(() =>
      appendBatch(core, principal, { repoKey, mode, entries, digest, redacted }),
    );
    return { ok: true, ...appended, serverRedacted: redacted };
  },
);

/** Takes each payload as its own slice of the text, redacted where need be, in ascending order of seq. */
async function readEntries(
  { config, clock }: Core,
  sent: readonly SentEntry[],
  text: string,
): Promise<{ entries: Entry[]; redacted: number }> {
  if (sent.length > config.maxTelemetryEntries)
    fail(tooLarge, `The batch has ${sent.length} entries; at most ${config.maxTelemetryEntries} fit in one.`);
  const yieldNow = cooperative(clock);
  const top = members(text);
  if (duplicateKey(top) !== undefined) fail(malformed, "The body names a member twice.");
  await yieldNow();
  const slices = elements(text, findMember(top, "entries")?.start);
  const entries: Entry[] = [];
  for (const [i, entry] of sent.entries()) {
    await yieldNow();
    entries.push(readEntry(config, entry, text, slices[i]?.start as number, i));
  }
  entries.sort((a, b) => a.seq - b.seq);
  if (!(await mightLongHoldSecret(text, yieldNow))) return { entries, redacted: 0 };
  let redacted = 0;
  for (const [i, entry] of entries.entries()) {
    await yieldNow();
    const clean = await redactLongJson(entry.payload, yieldNow);
    if (clean.findings.length === 0) continue;
    redacted++;
    entries[i] = { ...entry, payload: clean.text };
  }
  return { entries, redacted };
}

function readEntry(config: Config, { seq, clientTimestamp }: SentEntry, text: string, start: number, i: number): Entry {
  const own = members(text, start);
  if (duplicateKey(own) !== undefined) fail(malformed, `Entry ${i} names a member twice.`);
  const number = findMember(own, "seq") as Member;
  if (!isWholeNumber(text.slice(number.start, number.end)))
    fail(malformed, `The seq of entry ${i} must be a whole number.`);
  const { start: from, end: to } = findMember(own, "payload") as Member;
  const payload = text.slice(from, to);
  // Three bytes at most for a UTF-16 unit: only a payload that could be too large is measured.
  if (
    payload.length * 3 > config.maxTelemetryPayloadBytes &&
    Buffer.byteLength(payload) > config.maxTelemetryPayloadBytes
  )
    fail(tooLarge, `The payload of entry ${i} exceeds ${config.maxTelemetryPayloadBytes} bytes.`);
  return { seq, clientTimestamp: clientTimestamp ?? null, payload };
}
