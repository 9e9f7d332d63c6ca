import * as v from "valibot";
import { deliveryItems, type Items } from "../../kit/items.ts";
import { duplicateKey, elements, findMember, type Member, members, type Slice } from "../../kit/json.ts";
import { fail, malformed, tooLarge } from "../../kit/problem.ts";
import { Counter, DateTime, FreeObject, RepoKey } from "../../platform/http/fields.ts";
import { bufferOf, ownMemory, preparation, type Tools } from "../../platform/http/preparation.ts";
import { redactText } from "../../redact/redact.ts";
import type { CaptureMode } from "../policy/policy.ts";
import {
  Cleaner,
  cleanRepoKey,
  digestOfSent,
  requireAtMost,
  requireWholeNumber,
  type SentDigest,
} from "../sent-body/sent-body.ts";
import { type PackedEntries, pack, type SentEntry, textsIn } from "./packed.ts";
import { Mode, type SkimmedBatch, type SkimmedEntry, skimBatch } from "./skim-batch.ts";

export const TelemetryBatch = v.object({
  entries: v.array(
    v.object({
      seq: v.pipe(Counter, v.description("Sequence number, counting up per device and repository.")),
      payload: v.pipe(FreeObject, v.description("Kept as sent, after redaction.")),
      clientTimestamp: v.optional(DateTime),
    }),
  ),
  mode: v.optional(Mode),
  repoKey: v.optional(RepoKey),
});

type ParsedBatch = v.InferOutput<typeof TelemetryBatch>;

/** What reading a batch needs to know of where it came. */
interface BatchGiven {
  readonly captureMode: CaptureMode;
  readonly maxEntries: number;
  readonly maxPayloadBytes: number;
}

/** A batch ready to be stored. */
export interface ReadBatch {
  readonly captureMode: CaptureMode;
  readonly repoKey: string;
  readonly mode: string | null;
  /** Without a text where nothing may be kept. */
  readonly packed: PackedEntries;
  /** What a delivery of all of them commits to. */
  readonly content: Items;
  /** Of the body. */
  readonly sent: SentDigest;
  /** Entries in which a secret was replaced. */
  readonly redacted: number;
  /** Entries of which text was left out, because only metadata may be kept; all of them where nothing may. */
  readonly withheld: number;
}

/** Makes a telemetry batch ready. */
export const readTelemetry = preparation({
  name: "telemetry",
  schema: TelemetryBatch,
  skim: skimBatch,
  run: readBatch,
  pack(batch) {
    const { packed } = batch;
    const seqs = Float64Array.from(packed.seqs);
    const made = { ...batch, packed: { ...packed, seqs } };
    return { made, transfer: ownMemory(seqs, packed.ends, packed.texts) };
  },
  unpack: (batch: ReadBatch): ReadBatch => ({
    ...batch,
    packed: { ...batch.packed, texts: bufferOf(batch.packed.texts) },
    content: { ...batch.content, key: bufferOf(batch.content.key), root: bufferOf(batch.content.root) },
  }),
});

/**
 * Takes each payload as its own slice of the text, redacted where need be, in ascending order of seq.
 * @throws Problem malformed (400), tooLarge (413)
 */
async function readBatch(
  batch: ParsedBatch | SkimmedBatch,
  text: string,
  { captureMode, maxEntries, maxPayloadBytes }: BatchGiven,
  { yieldNow, sent: body }: Tools,
): Promise<ReadBatch> {
  const { entries: sentEntries, mode: sentMode, repoKey } = batch;
  requireAtMost(maxEntries, sentEntries.length, ["batch", "entries"]);
  const known = { captureMode, repoKey: cleanRepoKey(repoKey), sent: digestOfSent(body) };
  if (captureMode === "off") {
    const packed = {
      seqs: sentEntries.map(({ seq }) => seq).sort((a, b) => a - b),
      ends: new Uint32Array(),
      texts: Buffer.alloc(0),
    };
    const content = deliveryItems(known.repoKey, null, []);
    return { ...known, mode: null, packed, content, redacted: 0, withheld: sentEntries.length };
  }
  const cleaner = new Cleaner(yieldNow, captureMode);
  const skimmed = "isSkimmed" in batch ? batch.entries : await findPayloads(batch.entries, text, yieldNow);
  for (const [i, { payload }] of skimmed.entries()) requireFits(maxPayloadBytes, text, payload, i);
  const unclean = await cleaner.unclean(
    text,
    skimmed.map(({ payload }) => payload),
  );
  // Payloads that stay as sent are not copied into texts of their own.
  const isAscii = body.length === text.length;
  const entries: SentEntry[] = [];
  for (const [i, { seq, clientTimestamp = null, payload }] of skimmed.entries()) {
    const wait = yieldNow();
    if (wait) await wait;
    const part = isAscii && !unclean.has(i) ? payload : text.slice(payload.start, payload.end);
    const kept = typeof part === "string" && unclean.has(i) ? await cleaner.clean(part, "payload") : part;
    entries.push({ seq, clientTimestamp, payload: kept });
  }
  const packed = pack(
    entries.sort((a, b) => a.seq - b.seq),
    body,
  );
  const isFreeText = captureMode === "metadata" && /\s/.test(sentMode ?? "");
  const mode = sentMode === undefined || isFreeText ? null : redactText(sentMode).text;
  const content = deliveryItems(known.repoKey, mode, textsIn(packed));
  return { ...known, mode, packed, content, redacted: cleaner.redacted, withheld: cleaner.withheld };
}

/** Finds where in the text the payloads of parsed entries stand. @throws Problem malformed (400) */
async function findPayloads(
  parsed: ParsedBatch["entries"],
  text: string,
  yieldNow: Tools["yieldNow"],
): Promise<SkimmedEntry[]> {
  const top = members(text);
  if (duplicateKey(top) !== undefined) fail(malformed, "The body names a member twice.");
  await yieldNow();
  const slices = elements(text, findMember(top, "entries")?.start);
  const found: SkimmedEntry[] = [];
  for (const [i, { seq, clientTimestamp }] of parsed.entries()) {
    const wait = yieldNow();
    if (wait) await wait;
    const own = members(text, slices[i]?.start);
    if (duplicateKey(own) !== undefined) fail(malformed, `Entry ${i} names a member twice.`);
    requireWholeNumber(text, own, "seq", `The seq of entry ${i}`);
    found.push({ seq, clientTimestamp, payload: findMember(own, "payload") as Member });
  }
  return found;
}

function requireFits(maxBytes: number, text: string, { start, end }: Slice, i: number): void {
  // Three bytes at most for a UTF-16 unit: only a payload that could be too large is measured.
  if ((end - start) * 3 > maxBytes && Buffer.byteLength(text.slice(start, end)) > maxBytes)
    fail(tooLarge, `The payload of entry ${i} exceeds ${maxBytes} bytes.`);
}
