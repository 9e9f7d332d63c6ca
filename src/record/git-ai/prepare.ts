import * as v from "valibot";
import { authorsOf, isMetadataNote, metadataText } from "../../formats/authorship.ts";
import { parseJson } from "../../formats/values.ts";
import { bufferOf, ownMemory, preparation, type Tools } from "../../platform/http/preparation.ts";
import { mightLongHoldSecret, redactLongJson, redactLongText } from "../../redact/redact.ts";
import type { CaptureMode } from "../policy/policy.ts";
import { digestOfSent, requireAtMost, type SentDigest } from "../sent-body/sent-body.ts";
import type { commitNotes } from "../traces/traces.ts";
import { COMMIT } from "./commit.ts";

export const NoteBatch = v.object({
  entries: v.array(
    v.object({
      commit_sha: v.pipe(v.string(), v.description("4 to 64 hexadecimal digits; others count as failed.")),
      content: v.pipe(v.string(), v.description("The note; 8 MiB at most, larger ones count as failed.")),
    }),
  ),
});

/** A note, in bytes. */
export const MAX_NOTE_BYTES = 8 * 1024 * 1024;
/** Git AI sends 50. */
const MAX_ENTRIES = 5_000;

type SentNote = Parameters<typeof commitNotes.deliver>[1][number];

/** A batch ready to be stored. */
export interface ReadyNotes {
  readonly captureMode: CaptureMode;
  /** Of the body. */
  readonly sent: SentDigest;
  readonly notes: readonly SentNote[];
  /** Those that cannot be kept. */
  readonly failed: number;
  /** Of them, those that the policy does not let be kept. */
  readonly withheld: number;
}

/** Makes a batch of notes ready. */
export const readNotes = preparation({
  name: "git-ai.notes",
  schema: NoteBatch,
  run: readBatch,
  pack: (batch: ReadyNotes) => ({ made: batch, transfer: ownMemory(...batch.notes.map(({ content }) => content)) }),
  unpack: (batch: ReadyNotes): ReadyNotes => ({
    ...batch,
    notes: batch.notes.map((note) => ({ ...note, content: bufferOf(note.content) })),
  }),
});

async function readBatch(
  { entries }: v.InferOutput<typeof NoteBatch>,
  _text: string,
  { captureMode }: { readonly captureMode: CaptureMode },
  { yieldNow, sent: body }: Tools,
): Promise<ReadyNotes> {
  requireAtMost(MAX_ENTRIES, entries.length, ["batch", "notes"]);
  const known = { captureMode, sent: digestOfSent(body) };
  if (captureMode === "off") return { ...known, notes: [], failed: entries.length, withheld: entries.length };
  const notes: SentNote[] = [];
  let withheld = 0;
  for (const { commit_sha: commit, content } of entries) {
    await yieldNow();
    if (!COMMIT.test(commit) || !content.isWellFormed() || content.length > MAX_NOTE_BYTES) continue;
    const bytes = Buffer.from(content, "utf8");
    const authors = authorsOf(content);
    if (bytes.length > MAX_NOTE_BYTES || !authors || (await holdsSecret(content, yieldNow))) continue;
    if (captureMode === "metadata" && !isMetadataNote(content)) withheld++;
    else notes.push({ commit, content: bytes, sessions: Array.from(authors.values(), ({ session }) => session) });
  }
  return { ...known, notes, failed: entries.length - notes.length, withheld };
}

/**
 * Whether a note holds a secret for certain. Nothing of a note can be taken out, since it is handed back as it was sent; what only looks
 * like a secret, as long ids do, stays.
 */
async function holdsSecret(content: string, yieldNow: Tools["yieldNow"]): Promise<boolean> {
  if (!(await mightLongHoldSecret(content, yieldNow))) return false;
  const isCertain = ({ strength }: { readonly strength: string }) => strength === "certain";
  const { findings } = await redactLongText(content, yieldNow);
  if (findings.some(isCertain)) return true;
  // What escapes hide in its JSON.
  const json = metadataText(content) ?? "";
  return parseJson(json) !== undefined && (await redactLongJson(json, yieldNow)).findings.some(isCertain);
}
