import { stat, statfs } from "node:fs/promises";
import type { Core } from "../../core.ts";
import { figure, type Metric } from "../metrics/metrics.ts";
import { databasePath } from "../store/store.ts";

/** Bytes of free pages in the file. SQLite has both numbers in the file's first page. */
function unusedBytes({ store: { db } }: Core): number {
  const [pages, pageBytes] = ["freelist_count", "page_size"].map((name) => Number(db.pragma(name, { simple: true })));
  return (pages ?? 0) * (pageBytes ?? 0);
}

export const storeMetrics: readonly Metric[] = [
  figure(
    "gauge",
    "reckon_store_bytes",
    "Size of the database file, without its write-ahead log.",
    async ({ store }) => (await stat(databasePath(store.directory))).size,
  ),
  figure("gauge", "reckon_store_unused_bytes", "Room within the database file that is used again.", unusedBytes),
  figure(
    "gauge",
    "reckon_disk_free_bytes",
    "Room left for the server on the data directory's disk.",
    async ({ store }) => {
      const { bavail, bsize } = await statfs(store.directory);
      return bavail * bsize;
    },
  ),
];
