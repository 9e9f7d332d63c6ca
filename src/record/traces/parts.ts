import { type HashedItems, hashItems } from "../../kit/items.ts";
import { labelText, sessionText, spanText } from "./item-texts.ts";
import type { ReadBatch, ReadLabel, ReadSession } from "./read-batch.ts";
import { spell } from "./rules.ts";

/** What is stored in one transaction, as a delivery of its own. */
export interface Part {
  readonly sessions: readonly ReadSession[];
  readonly labels: readonly ReadLabel[];
  /** Sessions that begin in this part; one with many spans goes on in the next. */
  readonly items: number;
  /** Both of the whole batch, named by its first part. */
  readonly redacted: number;
  readonly withheld: number;
  /** Hashes of its items as sent, which mostly is how they are stored; undefined when they were not hashed ahead. */
  readonly hashed: HashedItems | undefined;
}

/** Rows that one transaction writes at most: everybody else waits while it does. */
export const MAX_ROWS = 500;
/** The same for sessions that grow by pieces: each of their spans that is known is read and merged, too. */
export const MAX_PIECE_ROWS = 250;

/**
 * Takes a batch apart into what is stored at once: most are one part. Whoever sends a batch again because the server stopped
 * halfway finds that what was stored is not stored twice, as with any batch.
 */
export function* partsOf(
  repoKey: string,
  { sessions, labels, redacted, withheld }: ReadBatch,
  maxRows = MAX_ROWS,
): Generator<Part> {
  let part: { sessions: ReadSession[]; labels: ReadLabel[]; items: number } = { sessions: [], labels: [], items: 0 };
  let room = maxRows;
  let unreported = { redacted, withheld };
  const finished = (): Part => {
    const done = { ...part, ...unreported, hashed: hashItems(repoKey, null, textsOf(part)) };
    part = { sessions: [], labels: [], items: 0 };
    room = maxRows;
    unreported = { redacted: 0, withheld: 0 };
    return done;
  };
  for (const session of sessions) {
    let stored = 0;
    do {
      if (room < 2) yield finished();
      if (stored === 0) part.items++;
      const spans = session.spans.slice(stored, stored + room - 1);
      part.sessions.push({ ...session, spans });
      stored += spans.length;
      room -= spans.length + 1;
    } while (stored < session.spans.length);
  }
  for (const label of labels) {
    if (room === 0) yield finished();
    part.labels.push(label);
    room--;
  }
  yield finished();
}

function* textsOf({ sessions, labels }: Pick<Part, "sessions" | "labels">): Generator<string> {
  for (const { externalId, members, spans } of sessions) {
    yield sessionText(externalId, spell(members));
    for (const span of spans) yield spanText(externalId, span.externalId, span.document);
  }
  for (const { document } of labels) yield labelText(document);
}
