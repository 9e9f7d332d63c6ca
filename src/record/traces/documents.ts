import { type Core, slot } from "../../core.ts";
import { BlockCache } from "../../kit/blocks.ts";
import { type DocumentPlace, documentRows } from "./document-rows.ts";

/** What a block holds at most, unless one span alone is larger. Whoever reads one span unpacks all of it. */
export const MAX_BLOCK_BYTES = 64 * 1024;

const blocks = slot(() => new BlockCache());

/** The document of a span, JSON as it was stored. One whose block is missing or damaged is empty, which verifying reports. */
export function documentOf(core: Core, { plain, blockId, blockAt, bytes }: DocumentPlace): string {
  if (blockId === null || blockAt === null || bytes === null) return plain;
  const texts = blocks(core).texts(blockId, (id) => documentRows(core.store).content.get(id));
  return texts.toString("utf8", blockAt, blockAt + bytes) || "{}";
}

/** A row with the document in place of where it lies. */
export function withDocument<Row extends DocumentPlace>(
  core: Core,
  row: Row,
): Omit<Row, keyof DocumentPlace> & { readonly document: string } {
  const { plain, blockId, blockAt, bytes, ...rest } = row;
  return { ...rest, document: documentOf(core, { plain, blockId, blockAt, bytes }) };
}
