import { statements } from "../../platform/store/store.ts";

/** Where the document of a span lies: in its row, or, once it is sealed, as `bytes` from `blockAt` on of a block's texts. */
export interface DocumentPlace {
  readonly plain: string;
  readonly blockId: number | null;
  readonly blockAt: number | null;
  readonly bytes: number | null;
}

/** The columns of a `DocumentPlace`. @param hasBlocks false for a database from before them */
export const documentPlace = (hasBlocks = true): string =>
  hasBlocks
    ? "document AS plain, block_id AS blockId, block_at AS blockAt, bytes"
    : "document AS plain, NULL AS blockId, NULL AS blockAt, NULL AS bytes";

/** Length of a span's document in UTF-8, as SQL. */
export const DOCUMENT_BYTES = "coalesce(bytes, octet_length(document))";

/** The columns of a span that tell what its document is of. */
export const SPAN =
  "external_id AS externalId, parent_id AS parentId, name, kind, started_at AS startedAt, ended_at AS endedAt";

export const documentRows = statements((db) => ({
  // By primary key.
  content: db.prepare<[number | bigint], Buffer>("SELECT content FROM trace_span_blocks WHERE id = ?").pluck(),
}));
