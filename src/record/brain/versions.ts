import type { Core } from "../../core.ts";
import { keysetPage, type Page, pageSize, readCursor, writeCursor } from "../../kit/page.ts";
import { browseRows, type SnapshotRow } from "./browse-rows.ts";
import { blobUnder, compareManifests, manifestReader, type SnapshotFacts, snapshotFacts } from "./manifests.ts";

interface PageQuery {
  readonly cursor?: string | undefined;
  readonly limit?: number | undefined;
}

/** A snapshot, and how many files differ from the accepted one before it, of any device. */
export interface Version extends SnapshotFacts {
  readonly added: number;
  readonly changed: number;
  readonly removed: number;
  /** What it was compared with; null for the first. */
  readonly previousId: number | null;
}

/** The snapshots of a repository, newest first, evidence (not accepted) included. */
export function listVersions(core: Core, teamId: string, repoKey: string, query: PageQuery = {}): Page<Version> {
  const sql = browseRows(core.store);
  const page = keysetPage({
    cursor: query.cursor,
    limit: query.limit,
    parts: 1,
    keyOf: (row: SnapshotRow) => [row.snapshotId],
    read: (towards, key, count) =>
      towards === "older"
        ? sql.down.all(teamId, repoKey, key?.[0] ?? Number.MAX_SAFE_INTEGER, count)
        : sql.up.all(teamId, repoKey, key?.[0] ?? 0, count),
  });
  const manifest = manifestReader(core);
  const lowest = page.rows.at(-1);
  let previous: Pick<SnapshotRow, "snapshotId" | "manifestId"> | undefined =
    lowest && sql.acceptedBelow.get(teamId, repoKey, lowest.snapshotId, 1);
  // From the oldest up, each finds the accepted one before it without another look.
  const rows = snapshotFacts(core, page.rows.toReversed()).map((row): Version => {
    const { added, changed, removed } = compareManifests(
      previous ? manifest(previous.manifestId) : new Map(),
      manifest(row.manifestId),
    );
    const version = {
      ...row,
      added: added.length,
      changed: changed.length,
      removed: removed.length,
      previousId: previous?.snapshotId ?? null,
    };
    if (row.accepted === 1) previous = row;
    return version;
  });
  return { ...page, rows: rows.reverse() };
}

/** An accepted snapshot in which a file changed. */
export interface FileVersion extends SnapshotFacts {
  readonly change: "added" | "changed" | "removed";
  /** The snapshot before it, to compare with; null when there is none. */
  readonly previousId: number | null;
  /** Size of the file's content; null when it was removed. */
  readonly fileBytes: number | null;
}

/** Accepted snapshots one page looks through. */
const MAX_EXAMINED = 1_000;
const MAX_SNAPSHOTS = 100;

/**
 * The accepted snapshots in which one file's content changed, newest first. A page may come short, even empty, and still
 * have `older`, when many snapshots left the file alone.
 */
export function fileVersions(
  core: Core,
  teamId: string,
  repoKey: string,
  path: string,
  query: PageQuery = {},
): Page<FileVersion> {
  const sql = browseRows(core.store);
  const size = pageSize(query.limit);
  const blobs = new Map<number, number | undefined>();
  const blobIn = ({ manifestId }: SnapshotRow) =>
    blobs.getOrInsertComputed(manifestId, () => blobUnder(sql.manifest.get(manifestId) ?? "", path));
  const rows: FileVersion[] = [];
  const compare = (row: SnapshotRow, previous: SnapshotRow | undefined) => {
    const now = blobIn(row);
    const before = previous && blobIn(previous);
    if (now === before) return;
    const previousId = previous?.snapshotId ?? null;
    const change = before === undefined ? "added" : "changed";
    for (const facts of snapshotFacts(core, [row]))
      rows.push(
        now === undefined
          ? { ...facts, change: "removed", previousId, fileBytes: null }
          : { ...facts, change, previousId, fileBytes: sql.blobBytes.get(now) ?? null },
      );
  };
  let below = readCursor(query.cursor, 1)?.key[0] ?? Number.MAX_SAFE_INTEGER;
  for (let examined = 0; examined < MAX_EXAMINED; ) {
    // One more than is examined: each is compared with the one before it.
    const chunk = sql.acceptedBelow.all(teamId, repoKey, below, MAX_SNAPSHOTS + 1);
    for (const [i, row] of chunk.slice(0, MAX_SNAPSHOTS).entries()) {
      compare(row, chunk[i + 1]);
      below = row.snapshotId;
      examined++;
      if (rows.length === size && i + 1 < chunk.length) return { rows, older: older(below) };
    }
    if (chunk.length <= MAX_SNAPSHOTS) return { rows };
  }
  return { rows, older: older(below) };
}

const older = (snapshotId: number) => writeCursor({ towards: "older", key: [snapshotId] });
