import type { Core } from "../../core.ts";
import { keysetPage, type Page } from "../../kit/page.ts";
import { browseRows, type ConflictRow, type DeviceTotals, type StreamFacts } from "./browse-rows.ts";
import type { Gap } from "./rules.ts";

/** A stream of entries: one device and one repository (`""` when the client named none). */
export interface Stream extends StreamFacts {
  /** The first holes, ascending. */
  readonly gaps: readonly Gap[];
  /** Sequence numbers that never arrived, in all holes together. */
  readonly missing: number;
}

const MAX_GAPS = 20;
/** Streams that are listed at most. */
export const MAX_STREAMS = 1_000;

/** A team's streams, or those of one of its devices, the one that grew last first; the newest thousand. */
export function listStreams(core: Core, teamId: string, deviceId: string | null = null): Stream[] {
  const sql = browseRows(core.store);
  return sql.streams.all({ teamId, deviceId, most: MAX_STREAMS }).map((stream) => ({
    ...stream,
    gaps: sql.gaps.all(stream.id, MAX_GAPS),
    missing: sql.missing.get(stream.id) as number,
  }));
}

/** The repositories that a team's streams are of, by key, for a list to choose from; the first thousand. */
export function listRepoKeys(core: Core, teamId: string): string[] {
  return browseRows(core.store).repoKeys.all(teamId, MAX_STREAMS);
}

/** What each of a team's devices sent, by device id; devices that sent nothing are absent. */
export function deviceTotals(core: Core, teamId: string): Map<string, DeviceTotals> {
  return new Map(
    browseRows(core.store)
      .deviceTotals.all(teamId)
      .map((totals) => [totals.deviceId, totals]),
  );
}

/** Entries whose seq was taken by other content, newest first, each with what is held under the seq. */
export function listConflicts(
  core: Core,
  teamId: string,
  asked: {
    readonly deviceId?: string | undefined;
    readonly repoKey?: string | undefined;
    readonly cursor?: string | undefined;
    readonly limit?: number | undefined;
  } = {},
): Page<ConflictRow> {
  const sql = browseRows(core.store);
  const device = asked.deviceId ?? null;
  const repo = asked.repoKey ?? null;
  const streams = sql.streamsInConflict.all(teamId, device, device, repo, repo) as number[];
  return keysetPage({
    cursor: asked.cursor,
    limit: asked.limit,
    parts: 1,
    keyOf: (row: ConflictRow) => [row.id],
    read: (towards, key, count) => {
      const down = towards === "older";
      const start = key?.[0] ?? (down ? Number.MAX_SAFE_INTEGER : 0);
      return streams
        .flatMap((id) => (down ? sql.conflictsDown : sql.conflictsUp).all(id, start, count) as number[])
        .sort((a, b) => (down ? b - a : a - b))
        .slice(0, count)
        .map((id) => sql.conflict.get(id) as ConflictRow);
    },
  });
}

export type { ConflictRow, DeviceTotals };
