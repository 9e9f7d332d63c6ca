import { basename } from "node:path";
import type { Core } from "../../core.ts";
import { conflict, fail, invalid, notFound } from "../../kit/problem.ts";
import { type Actor, recordEvent } from "../../platform/audit/audit.ts";
import { dropFile, keepFile, type Summed, sumFile } from "./files.ts";
import { removeLeftovers } from "./leftovers.ts";
import { type Release, toRelease } from "./list.ts";
import { rows } from "./rows.ts";
import { platformOf, readFileName, readSha512, readUrl, readVersion } from "./rules.ts";

/** A release as somebody registers it. */
export interface NewRelease {
  readonly platform: string;
  readonly version: string;
  /** Where clients fetch it from; without it the file is copied here and served by us. */
  readonly url?: string | undefined;
  /** The installer on this machine. */
  readonly file?: string | undefined;
  /** Hexadecimal or base64; checked against the file where there is one. */
  readonly sha512?: string | undefined;
}

/**
 * Registers an installer. Nothing is fetched: a URL alone needs the checksum, or the file to compute it from.
 * @param onProgress told the share of the file done, 0 to 1
 * @throws Problem saying what is missing or does not fit
 */
export async function addRelease(
  core: Core,
  release: NewRelease,
  by: Actor,
  onProgress: (share: number) => void = () => {},
): Promise<Release> {
  const platform = platformOf(release.platform);
  if (!platform) fail(invalid, "the platform must be win32 (or win)");
  const version = readVersion(release.version);
  const url = release.url === undefined ? null : readUrl(release.url);
  const expected = release.sha512 === undefined ? undefined : readSha512(release.sha512);
  const taken = () => {
    if (rows(core.store).byVersion.get(platform, version))
      fail(conflict, `${version} for ${platform} is registered already; remove it first`);
  };
  taken();
  const { file } = release;
  const fileName = url === null && file !== undefined ? readFileName(basename(file)) : null;
  // They may be what takes the room that the copy needs.
  if (fileName !== null) removeLeftovers(core);
  let summed: Summed;
  if (file !== undefined) summed = await (url === null ? keepFile(core, file, onProgress) : sumFile(file, onProgress));
  else if (url !== null && expected) summed = { sha512: expected, bytes: 0 };
  else fail(invalid, "name the installer's file; or its URL, and its SHA-512 or a copy of the file");
  try {
    if (expected && !expected.equals(summed.sha512))
      fail(invalid, `the file's SHA-512 is ${summed.sha512.toString("base64")}, not the one given`);
    const row = { platform, version, url, fileName, ...summed, createdAt: core.clock.now() };
    await core.store.write(() => {
      // Somebody may have been faster while the file was read.
      taken();
      rows(core.store).insert.run(row);
      recordEvent(core, by, {
        action: "release.added",
        teamId: null,
        target: { kind: "release", id: `${platform} ${version}` },
        detail: { url, file: fileName, sha512: summed.sha512.toString("base64") },
      });
    });
    return toRelease(core, row);
  } catch (error) {
    if (fileName !== null) dropFile(core, summed.sha512);
    throw error;
  }
}

/** Withdraws an installer, its file included. @throws Problem (404) when it is not registered */
export async function removeRelease(core: Core, platformName: string, version: string, by: Actor): Promise<void> {
  const platform = platformOf(platformName) ?? "";
  const removed = await core.store.write(() => {
    const row = rows(core.store).byVersion.get(platform, version);
    if (!row) fail(notFound, "there is no such release");
    rows(core.store).remove.run(platform, version);
    recordEvent(core, by, {
      action: "release.removed",
      teamId: null,
      target: { kind: "release", id: `${platform} ${version}` },
    });
    return row;
  });
  // Whoever is fetching it keeps what they have open.
  if (removed.fileName !== null) dropFile(core, removed.sha512);
}
