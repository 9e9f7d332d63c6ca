import type { Fields } from "../../formats/values.ts";
import { NO_REPO } from "../../platform/http/fields.ts";
import type { CaptureMode } from "../policy/policy.ts";
import { Cleaner, type SentDigest } from "../sent-body/sent-body.ts";
import { MAX_PIECE_ROWS, partsOf } from "./parts.ts";
import { packing, type ReadyBatch } from "./prepare.ts";
import { type ReadSession, type ReadSpan, spanOf } from "./read-batch.ts";
import { contentId, parsedMembers, readSession, SESSION_FACTS, SPAN_FACTS, spell, spelledMembers } from "./rules.ts";

/** A session as somebody tells of it, with its spans. Undefined members are not said. */
interface Piece {
  readonly session: Fields;
  readonly spans: readonly Fields[];
}

/** How pieces are made ready, in whatever thread. */
export const pieces = { read, ...packing };

interface Written {
  readonly piece: Piece;
  /** Of the session, each as JSON. */
  readonly members: Map<string, string>;
  readonly own: string;
  readonly spans: readonly string[];
}

/**
 * Makes sessions ready that never were a batch, as `readTraces` does with batches.
 * @param sent the digest of the body that told of them
 * @param yieldNow as `kit/yield.ts` makes it
 */
async function read(
  list: readonly Piece[],
  captureMode: CaptureMode,
  sent: SentDigest,
  yieldNow: () => Promise<void> | undefined,
): Promise<ReadyBatch> {
  const written: Written[] = [];
  for (const piece of list) written.push(await write(piece, yieldNow));
  const cleaner = new Cleaner(yieldNow, captureMode);
  const sessions: ReadSession[] = [];
  let spans = 0;
  for (const one of written) {
    sessions.push(await clean(one, cleaner));
    spans += one.spans.length;
  }
  const { redacted, withheld } = cleaner;
  const parts = partsOf(NO_REPO, { sessions, labels: [], redacted, withheld }, MAX_PIECE_ROWS);
  const counts = { sessions: sessions.length, spans, labels: 0, redacted, withheld };
  return { captureMode, repoKey: NO_REPO, sent, ...counts, heads: [], parts };
}

async function write(piece: Piece, yieldNow: () => Promise<void> | undefined): Promise<Written> {
  const members = new Map<string, string>();
  for (const [name, value] of Object.entries(piece.session))
    if (value !== undefined) members.set(name, JSON.stringify(value));
  const spans: string[] = [];
  for (const span of piece.spans) {
    const wait = yieldNow();
    if (wait) await wait;
    spans.push(JSON.stringify(span));
  }
  return { piece, members, own: spell(members), spans };
}

async function clean(
  { piece, own, members: ownMembers, spans: texts }: Written,
  cleaner: Cleaner,
): Promise<ReadSession> {
  const spans: ReadSpan[] = [];
  for (const [i, document] of (await cleaner.cleanAll(texts, "span")).entries()) {
    const wait = cleaner.yieldNow();
    if (wait) await wait;
    const isSame = document === texts[i];
    spans.push(spanOf(isSame ? (piece.spans[i] as Fields) : parsedMembers(document, SPAN_FACTS), document));
  }
  const document = await cleaner.clean(own, "session");
  const isSame = document === own;
  const facts = readSession(isSame ? piece.session : parsedMembers(document, SESSION_FACTS));
  return {
    ...facts,
    externalId: facts.externalId ?? contentId(document + spans.map((span) => span.document).join("\0")),
    members: isSame ? ownMembers : spelledMembers(document),
    spans,
  };
}
