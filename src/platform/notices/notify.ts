import type { Core } from "../../core.ts";
import { MAX_ERASED_ROWS } from "../../kit/erase-steps.ts";
import { newId } from "../../kit/ids.ts";
import { oneLine } from "../../kit/strings.ts";
import { type NoticeRow, rows } from "./rows.ts";
import type { NoticeData, NoticeName } from "./types.ts";

/** Something that happened. */
export interface Notice {
  readonly type: NoticeName;
  /** Null for what concerns the installation. */
  readonly teamId: string | null;
  /** The page that tells more, within this site. */
  readonly path: `/${string}`;
  /** Texts are put on one line and cut. */
  readonly data: NoticeData;
  /** The device and repository whose texts may stand in it, for erasing them. */
  readonly deviceId?: string | undefined;
  readonly repoKey?: string | undefined;
  /** A key for a notice that must be given only once, such as a week's digest: of several with one key the first counts. */
  readonly key?: string | undefined;
}

export interface StoredNotice extends Omit<NoticeRow, "data"> {
  readonly data: NoticeData;
}

const MAX_TEXT_CHARS = 200;

/**
 * Row change: stores a notice. Call it in the transaction of the event, so that neither is without the other. Does nothing while
 * RECKON_OUTBOUND lists no host.
 */
export function notify(core: Core, { type, teamId, path, data, deviceId, repoKey, key }: Notice): void {
  if (core.config.outbound.hosts.length === 0) return;
  rows(core.store).insert.run({
    eventId: newId("evt", core.clock, core.random),
    type,
    teamId,
    at: core.clock.now(),
    path,
    data: JSON.stringify(bounded(data)),
    deviceId: deviceId ?? null,
    repoKey: repoKey ?? null,
    key: key ?? null,
  });
}

const bounded = (data: NoticeData): NoticeData =>
  Object.fromEntries(
    Object.entries(data).map(([name, value]) => {
      if (typeof value === "string") return [name, oneLine(value.toWellFormed(), MAX_TEXT_CHARS)];
      return [name, Array.isArray(value) ? (value as readonly NoticeData[]).map(bounded) : value];
    }),
  );

/**
 * Row change: erases notices of devices' deliveries, or of repositories. All digests go, since they name what several of these said.
 * @param repoKeys repositories whose notices without a device go, because the devices may have brought their entries
 * @returns how many went
 */
export const eraseNotices = (
  core: Core,
  { teamId, repoKey }: { readonly teamId: string; readonly repoKey: string | null },
  deviceIds: readonly string[],
  repoKeys: readonly string[],
): number => {
  const of = { teamId, repoKey, deviceIds: JSON.stringify(deviceIds), repoKeys: JSON.stringify(repoKeys) };
  return rows(core.store).erase.run({ ...of, limit: MAX_ERASED_ROWS }).changes;
};

/** Row change: erases notices that lead to some pages of a team. @returns how many went */
export const eraseNoticesOfPages = (core: Core, teamId: string, paths: readonly Notice["path"][]): number =>
  rows(core.store).erasePages.run(teamId, JSON.stringify(paths), MAX_ERASED_ROWS).changes;
