import type { Core } from "../../core.ts";
import { compressBlock } from "../../kit/blocks.ts";
import { HOUR_MS, SECOND_MS } from "../../kit/clock.ts";
import type { Job } from "../../platform/jobs/jobs.ts";
import { documentRows } from "./document-rows.ts";
import { documentOf, MAX_BLOCK_BYTES } from "./documents.ts";
import { eraseRows } from "./erase-rows.ts";
import { type SealedSpan, type SpanRange, sealRows } from "./seal-rows.ts";

/** Spans of a block, at most: everybody else waits while their rows are rewritten. */
const MAX_BLOCK_SPANS = 250;
/** Bytes that are moved before the job pauses, at most: stopping the server waits for it. */
const MAX_RUN_BYTES = 8 * 1024 * 1024;

/**
 * Moves documents of spans into compressed blocks, a session's own, some time after they came: until then they may come again and
 * change. One block a transaction; compression runs on a thread of its own.
 */
export const sealJob: Job = {
  name: "traces.seal",
  everyMs: 15 * SECOND_MS,
  async run(core) {
    await seal(core, MAX_RUN_BYTES);
  },
};

/** @returns how many bytes of documents were moved; fewer than asked for where there is no more to do */
export async function seal(core: Core, maxBytes: number): Promise<number> {
  const sql = sealRows(core.store);
  let moved = 0;
  while (moved < maxBytes) {
    const now = core.clock.now();
    const waits = core.config.sealAfterHours * HOUR_MS;
    const session = sql.session.get({ before: now - waits, after: now + waits });
    if (!session) break;
    let range = nextRange(core, session.id);
    for (; range && moved < maxBytes; range = nextRange(core, session.id)) {
      const bytes = await sealBlock(core, range);
      // Something else changed it meanwhile: the next run looks anew.
      if (bytes === undefined) return moved;
      moved += bytes;
    }
    if (!range) await core.store.write(() => sql.markSealed.run({ ...session, now }));
  }
  return moved;
}

/** The next range of a session's spans to seal: one whose block holds outdated spans, else those that lie in no block yet; undefined when all is sealed. */
function nextRange(core: Core, sessionId: number): SpanRange | undefined {
  const sql = sealRows(core.store);
  const replaced = sql.replaced.get(sessionId);
  if (replaced) return replaced;
  // Replaced spans are within the range of their old block, handled above: beyond the last block nothing is sealed.
  const range = {
    sessionId,
    blockId: null,
    from: (sql.lastSealed.get(sessionId) ?? 0) + 1,
    to: Number.MAX_SAFE_INTEGER,
  };
  for (const _ of sql.unsealed.iterate(range)) return range;
  return undefined;
}

/** Makes a block of the first spans of a range. @returns the bytes of its texts; undefined where they changed meanwhile */
async function sealBlock(core: Core, range: SpanRange): Promise<number | undefined> {
  const sql = sealRows(core.store);
  const { ids, isAll } = firstOf(core, range);
  const spans = ids.map((id) => sql.span.get(id) as SealedSpan);
  const documents = spans.map((span) => Buffer.from(documentOf(core, span)));
  if (!documents.every(({ length }, i) => length === (spans[i]?.bytes ?? length))) {
    // A damaged block stays as it is; verifying reports it.
    await core.store.write(() => sql.keepBlock.run(range.blockId as number));
    return 0;
  }
  const texts = Buffer.concat(documents);
  const content = await compressBlock(texts);
  return core.store.write(() => {
    const isAsRead = spans.every((span) => {
      const now = sql.span.get(span.id);
      return now?.plain === span.plain && now.blockId === span.blockId && now.deliveryId === span.deliveryId;
    });
    if (!isAsRead) return undefined;
    for (const id of ids) eraseRows(core.store).dropSpan.run(id);
    const last = ids.at(-1);
    if (last !== undefined) {
      const { lastInsertRowid: id } = sql.insertBlock.run(range.sessionId, ids[0] as number, last, content);
      if (!documentRows(core.store).content.get(id)?.equals(content))
        throw new Error(`block ${id} is not what was stored`);
      let blockAt = 0;
      for (const [i, { plain: _, ...span }] of spans.entries()) {
        const bytes = (documents[i] as Buffer).length;
        // Removed and inserted: after an update SQLite leaves the page as empty as it became.
        sql.putSpan.run({ ...span, blockId: Number(id), blockAt, bytes });
        blockAt += bytes;
      }
    }
    if (range.blockId !== null) {
      if (isAll) sql.dropBlock.run(range.blockId);
      else sql.shortenBlock.run((last as number) + 1, range.blockId);
    }
    return texts.length;
  });
}

/** The first spans of a range that are to lie in a block, as many as fit. */
function firstOf(core: Core, range: SpanRange): { ids: readonly number[]; isAll: boolean } {
  const ids: number[] = [];
  let bytes = 0;
  for (const span of sealRows(core.store).unsealed.iterate(range)) {
    bytes += span.bytes;
    if (ids.length === MAX_BLOCK_SPANS || (ids.length > 0 && bytes > MAX_BLOCK_BYTES)) return { ids, isAll: false };
    ids.push(span.id);
  }
  return { ids, isAll: true };
}
