import type { Config } from "../../config.ts";
import { sha256 } from "../../kit/hash.ts";
import { duplicateKey, findMember, type Member, members } from "../../kit/json.ts";
import { fail, malformed, tooLarge } from "../../kit/problem.ts";
import { requireWholeNumber, SentBody } from "../intake/intake.ts";
import type { CaptureMode } from "../policy/policy.ts";
import { type PackedEntries, pack } from "./packed.ts";
import type { Entry } from "./rules.ts";

/** What validation made of an entry; its payload is taken from the text. */
export interface ParsedEntry {
  readonly seq: number;
  readonly clientTimestamp?: string | undefined;
}

/** A batch ready to be stored. */
export interface ReadBatch {
  readonly packed: PackedEntries;
  /** SHA-256 over all entries' texts. */
  readonly digest: Buffer;
  /** Entries in which a secret was replaced. */
  readonly redacted: number;
  /** Entries of which text was left out, because only metadata may be kept. */
  readonly withheld: number;
}

/**
 * Takes each payload as its own slice of the text, redacted where need be, in ascending order of seq. What comes out hangs on nothing but
 * what goes in.
 * @param parsed the entries of the text, validated
 * @throws Problem malformed (400), tooLarge (413)
 */
export async function readBatch(
  text: string,
  parsed: readonly ParsedEntry[],
  config: Pick<Config, "maxTelemetryPayloadBytes">,
  captureMode: CaptureMode,
  yieldNow: () => Promise<void> | undefined,
): Promise<ReadBatch> {
  const sent = await SentBody.open(text, yieldNow, captureMode);
  const slices = sent.list("entries");
  const entries: Entry[] = [];
  for (const [i, { seq, clientTimestamp = null }] of parsed.entries()) {
    await yieldNow();
    const payload = payloadAt(config.maxTelemetryPayloadBytes, text, slices[i]?.start as number, i);
    entries.push({ seq, clientTimestamp, payload: sent.isKeptAsSent ? payload : await sent.clean(payload, "payload") });
  }
  const packed = pack(entries.sort((a, b) => a.seq - b.seq));
  return { packed, digest: sha256(packed.texts), redacted: sent.redacted, withheld: sent.withheld };
}

function payloadAt(maxBytes: number, text: string, start: number, i: number): string {
  const own = members(text, start);
  if (duplicateKey(own) !== undefined) fail(malformed, `Entry ${i} names a member twice.`);
  requireWholeNumber(text, own, "seq", `The seq of entry ${i}`);
  const { start: from, end: to } = findMember(own, "payload") as Member;
  const payload = text.slice(from, to);
  // Three bytes at most for a UTF-16 unit: only a payload that could be too large is measured.
  if (payload.length * 3 > maxBytes && Buffer.byteLength(payload) > maxBytes)
    fail(tooLarge, `The payload of entry ${i} exceeds ${maxBytes} bytes.`);
  return payload;
}
