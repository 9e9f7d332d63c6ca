import type { Core } from "../../core.ts";
import { withDeviceLabels } from "../../identity/devices/devices.ts";
import { keysetPage, type Page } from "../../kit/page.ts";
import { findDelivery, withDeliveries } from "../../log/log.ts";
import {
  browseRows,
  type DeviceTotals,
  type StoredConflict,
  type StreamFacts,
  type StreamFlaws,
} from "./browse-rows.ts";
import type { Gap } from "./rules.ts";
import { entryBySeq } from "./segments.ts";
import type { Scope } from "./walk.ts";

/** A stream of entries: one device and one repository (`""` when the client named none). */
export interface Stream extends StreamFacts {
  readonly deviceLabel: string | null;
  /** The first gaps, ascending. */
  readonly gaps: readonly Gap[];
  /** Sequence numbers that never arrived, in all gaps together. */
  readonly missing: number;
}

const MAX_GAPS = 20;
/** Streams that are listed at most. */
export const MAX_STREAMS = 1_000;

/** Which of a team's streams: those of some devices, or by what they are; absent members do not narrow. */
type StreamQuery =
  | { readonly deviceIds: readonly string[] }
  | {
      readonly repoKeys?: readonly string[];
      /** Something is missing of it, or contradicts. */
      readonly flawed?: true;
    };

/** A team's streams, the one that grew last first; the newest thousand. */
export function listStreams(core: Core, teamId: string, query: StreamQuery = {}): Stream[] {
  const sql = browseRows(core.store);
  return withDeviceLabels(core, findStreams(core, teamId, query)).map((stream) => ({
    ...stream,
    gaps: sql.gaps.all(stream.id, MAX_GAPS),
    missing: sql.missing.get(stream.id) as number,
  }));
}

function findStreams(core: Core, teamId: string, query: StreamQuery): StreamFacts[] {
  const { streams, streamsOf } = browseRows(core.store);
  if ("deviceIds" in query)
    return streamsOf.all({ teamId, deviceIds: JSON.stringify(query.deviceIds), most: MAX_STREAMS });
  const repoKeys = query.repoKeys ? JSON.stringify(query.repoKeys) : null;
  return streams.all({ teamId, repoKeys, flawed: Number(query.flawed ?? false), most: MAX_STREAMS });
}

/** What is wrong in all of a team's streams, however many there are. */
export const streamFlaws = (core: Core, teamId: string): StreamFlaws =>
  browseRows(core.store).flaws.get({ teamId }) as StreamFlaws;

/** The repositories that a team's streams are of, by key, for a list to choose from; the first thousand. @param deviceIds only of these */
export function listRepoKeys(core: Core, teamId: string, deviceIds?: readonly string[]): string[] {
  const { repoKeys, repoKeysOf } = browseRows(core.store);
  if (!deviceIds) return repoKeys.all(teamId, MAX_STREAMS);
  return repoKeysOf.all({ teamId, deviceIds: JSON.stringify(deviceIds), most: MAX_STREAMS });
}

/** What each of some devices sent, by device id; devices that sent nothing are absent. */
export function deviceTotals(core: Core, deviceIds: readonly string[]): Map<string, DeviceTotals> {
  return new Map(
    browseRows(core.store)
      .deviceTotals.all(JSON.stringify(deviceIds))
      .map((totals) => [totals.deviceId, totals]),
  );
}

/** How many entries a team's streams hold. */
export const countEntries = (
  core: Core,
  teamId: string,
  { deviceId, deviceIds, repoKey }: Pick<Scope, "deviceId" | "deviceIds" | "repoKey">,
): number =>
  browseRows(core.store)
    .entriesByDevice.all({ teamId, repoKey: repoKey ?? null })
    .filter((one) => (deviceId ?? one.deviceId) === one.deviceId && (deviceIds?.includes(one.deviceId) ?? true))
    .reduce((sum, { entries }) => sum + entries, 0);

/** Entries whose seq was taken by other content, newest first, each with what is stored under the seq. */
export function listConflicts(
  core: Core,
  teamId: string,
  query: {
    readonly deviceId?: string | undefined;
    /** Of any of these devices. */
    readonly deviceIds?: readonly string[] | undefined;
    readonly repoKey?: string | undefined;
    readonly cursor?: string | undefined;
    readonly limit?: number | undefined;
  } = {},
): Page<ConflictRow> {
  const sql = browseRows(core.store);
  const device = query.deviceId ?? null;
  const repo = query.repoKey ?? null;
  const { deviceIds } = query;
  const streams = sql.streamsInConflict
    .all(teamId, device, device, repo, repo)
    .filter((id) => deviceIds?.includes(sql.ownerOf.get(id)?.deviceId ?? "") ?? true);
  const page = keysetPage({
    cursor: query.cursor,
    limit: query.limit,
    parts: 1,
    keyOf: (id: number) => [id],
    read: (towards, key, count) => {
      const down = towards === "older";
      const start = key?.[0] ?? (down ? Number.MAX_SAFE_INTEGER : 0);
      return streams
        .flatMap((id) => (down ? sql.conflictsDown : sql.conflictsUp).all(id, start, count))
        .sort((a, b) => (down ? b - a : a - b))
        .slice(0, count);
    },
  });
  return { ...page, rows: conflictsWith(core, page.rows) };
}

/** An entry that contradicts the one stored under its seq, with what is known of both; what is stored is null where that is gone. */
export type ConflictRow = ReturnType<typeof conflictsWith>[number];

/** Conflicts by their numbers. */
export function conflictsWith(core: Core, ids: readonly number[]) {
  const sql = browseRows(core.store);
  const conflicts = ids.map((id) => sql.conflict.get(id) as StoredConflict);
  return withDeviceLabels(core, withDeliveries(core, conflicts)).map((conflict) => {
    const stored = entryBySeq(core, conflict.streamId, conflict.seq);
    return {
      ...conflict,
      // Nothing of an erased one is held.
      heldPayload: stored?.payload || null,
      heldClientTimestamp: stored?.clientTimestamp ?? null,
      heldReceivedAt: stored ? (findDelivery(core, stored.deliveryId)?.receivedAt ?? null) : null,
    };
  });
}

export type { DeviceTotals };
