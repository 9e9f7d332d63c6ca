import type { Core } from "../../core.ts";
import { baseUrlOf } from "../../kit/base-url.ts";
import { byVersion, pickLatest } from "../../kit/versions.ts";
import { hasFile } from "./files.ts";
import { type ReleaseRow, rows } from "./rows.ts";
import type { Platform } from "./rules.ts";

/** A registered installer. Instants are milliseconds since the epoch. */
export interface Release {
  readonly platform: string;
  readonly version: string;
  /** Where it is fetched from: our own address, or the one it was registered with. */
  readonly url: string;
  /** Its file's name, when we serve it ourselves. */
  readonly fileName: string | null;
  /** null when nobody told. */
  readonly bytes: number | null;
  /** Base64. */
  readonly sha512: string;
  readonly createdAt: number;
  /** We should serve the file, but it is not there, as after a restore on another machine. */
  readonly missing: boolean;
}

/** Where an installer that we serve lies, below the base URL. */
const filePath = (platform: string, version: string, name: string): string =>
  `/download/files/${platform}/${version}/${encodeURIComponent(name)}`;

/** Where an installer is fetched from. */
function releaseUrl(core: Core, row: Pick<ReleaseRow, "platform" | "version" | "url" | "fileName">): string {
  return row.url ?? baseUrlOf(core.config) + filePath(row.platform, row.version, row.fileName ?? "");
}

export function toRelease(core: Core, row: ReleaseRow): Release {
  return {
    platform: row.platform,
    version: row.version,
    url: releaseUrl(core, row),
    fileName: row.fileName,
    bytes: row.bytes === 0 ? null : row.bytes,
    sha512: row.sha512.toString("base64"),
    createdAt: row.createdAt,
    missing: row.fileName !== null && !hasFile(core, row),
  };
}

/** Every release, newest first within its platform. */
export function listReleases(core: Core): Release[] {
  return rows(core.store)
    .all.all()
    .map((row) => toRelease(core, row))
    .sort((a, b) => a.platform.localeCompare(b.platform, "en") || byVersion(a, b));
}

/** What a client of a platform should run; undefined when there is none that can be fetched. */
export function latestRelease(core: Core, platform: Platform): Release | undefined {
  return pickLatest(
    rows(core.store)
      .ofPlatform.all(platform)
      .map((row) => toRelease(core, row))
      .filter(({ missing }) => !missing)
      .sort(byVersion),
  );
}
