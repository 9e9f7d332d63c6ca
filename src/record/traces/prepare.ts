import { deserialize, serialize } from "node:v8";
import * as v from "valibot";
import { DateTime, FreeObject, openObject, RepoKey } from "../../platform/http/fields.ts";
import { ownMemory, preparation, type Tools } from "../../platform/http/preparation.ts";
import type { CaptureMode } from "../policy/policy.ts";
import { cleanRepoKey, digestOfSent, requireAtMost, SentBody, type SentDigest } from "../sent-body/sent-body.ts";
import { MAX_ROWS, type Part, partsOf } from "./parts.ts";
import { type ReadSession, readBatch } from "./read-batch.ts";

export const TraceBatch = v.object({
  sessions: v.array(
    openObject({
      outcome: v.string(),
      spans: v.pipe(
        v.array(FreeObject),
        v.description("Free-form; id, parentId, name, kind, startedAt, endedAt, usage and edits are understood."),
      ),
    }),
  ),
  repoKey: v.optional(RepoKey),
  clientTimestamp: v.optional(DateTime),
  labels: v.optional(v.array(FreeObject)),
});

type ParsedBatch = v.InferOutput<typeof TraceBatch>;

/** What reading a batch needs to know of where it came. */
interface BatchGiven {
  readonly captureMode: CaptureMode;
  readonly maxSessions: number;
  readonly maxSpans: number;
  readonly maxLabels: number;
}

/** The id of a session, and its members. */
export type Head = Pick<ReadSession, "externalId" | "members">;

/** A batch ready to be stored. */
export interface ReadyBatch {
  readonly captureMode: CaptureMode;
  readonly repoKey: string;
  /** Of the body. */
  readonly sent: SentDigest;
  /** How many were sent of each. */
  readonly sessions: number;
  readonly spans: number;
  readonly labels: number;
  /** Sessions, spans and labels in which a secret was replaced. */
  readonly redacted: number;
  /** Sessions, spans and labels of which text was left out, because only metadata may be kept; all sessions and labels where nothing may. */
  readonly withheld: number;
  /** Its sessions, where it is stored in several parts. */
  readonly heads: Iterable<Head>;
  /** To be gone through once. None where nothing may be kept. */
  readonly parts: Iterable<Part>;
}

type Packed = Omit<ReadyBatch, "heads" | "parts"> & {
  readonly heads: readonly Uint8Array[];
  readonly parts: readonly Uint8Array[];
};

/** Between threads, the parts of a large batch are taken out of its message one by one, as they are stored. */
export const packing = {
  pack(batch: ReadyBatch) {
    const [heads, parts] = [Array.from(batch.heads, serialize), Array.from(batch.parts, serialize)];
    return { made: { ...batch, heads, parts } satisfies Packed, transfer: ownMemory(...heads, ...parts) };
  },
  unpack: (batch: Packed): ReadyBatch => ({ ...batch, heads: read<Head>(batch.heads), parts: read<Part>(batch.parts) }),
};

/** Makes a trace batch ready. */
export const readTraces = preparation({ name: "traces", schema: TraceBatch, run: readParts, ...packing });

function* read<T>(pieces: readonly Uint8Array[]): Generator<T> {
  for (const piece of pieces) yield deserialize(piece);
}

/** @throws Problem malformed (400), tooLarge (413) */
async function readParts(
  { sessions: sent, labels: sentLabels, repoKey }: ParsedBatch,
  text: string,
  { captureMode, maxSessions, maxSpans, maxLabels }: BatchGiven,
  { yieldNow, sent: body }: Tools,
): Promise<ReadyBatch> {
  const sessions = sent.length;
  const spans = sent.reduce((sum, session) => sum + session.spans.length, 0);
  const labels = sentLabels?.length ?? 0;
  requireAtMost(maxSessions, sessions, ["batch", "sessions"]);
  requireAtMost(maxSpans, spans, ["batch", "spans"]);
  requireAtMost(maxLabels, labels, ["batch", "labels"]);
  const known = { captureMode, repoKey: cleanRepoKey(repoKey), sent: digestOfSent(body) };
  if (captureMode === "off") {
    const none = { sessions: 0, spans: 0, labels: 0, heads: [], parts: [] };
    return { ...known, ...none, redacted: 0, withheld: sessions + labels };
  }
  const batch = await readBatch(await SentBody.open(text, yieldNow, captureMode));
  const { redacted, withheld } = batch;
  const isOfParts = sessions + spans + labels > MAX_ROWS;
  const heads = isOfParts ? batch.sessions.map(({ externalId, members }) => ({ externalId, members })) : [];
  return { ...known, sessions, spans, labels, redacted, withheld, heads, parts: partsOf(known.repoKey, batch) };
}
