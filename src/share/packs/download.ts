import type { Core } from "../../core.ts";
import { findDevice } from "../../identity/devices/devices.ts";
import { StoreUnavailable } from "../../kit/errors.ts";
import { shellQuoted } from "../../kit/strings.ts";
import { forgetPacks } from "./list.ts";
import { whyWithheld } from "./offer.ts";
import { rows } from "./rows.ts";

/** An archive as it is sent. */
export interface Downloaded {
  readonly archive: Buffer;
  /** Its SHA-256, 32 bytes. */
  readonly digest: Buffer;
  /** Counts the device whose token came along as an install; nothing without one. Never fails: the archive matters more. */
  count(): Promise<void>;
}

/**
 * Finds a version's archive.
 * @param bearer the token that was sent, of whatever kind; one that is no live device's counts nothing
 * @returns undefined when there is no such version, its pack was removed, or it is withheld (see `whyNotOffered`)
 */
export function downloadPack(
  core: Core,
  name: string,
  version: string,
  bearer: string | undefined,
): Downloaded | undefined {
  const pack = rows(core.store).stored.get(name);
  const stored = pack && pack.removedAt === null ? rows(core.store).archive.get(pack.id, version) : undefined;
  if (!pack || !stored || whyWithheld(core, stored.id) !== null) return undefined;
  return {
    archive: stored.archive,
    digest: stored.sha256,
    count: async () => {
      const deviceId = bearer === undefined ? undefined : liveDevice(core, bearer);
      if (deviceId !== undefined) await countInstall(core, pack.id, deviceId, version);
    },
  };
}

function liveDevice(core: Core, token: string): string | undefined {
  const device = findDevice(core, token);
  if (!device || device.revokedAt !== null || device.tokenReplacedAt !== null) return undefined;
  if (device.tokenExpiresAt !== null && device.tokenExpiresAt <= core.clock.now()) return undefined;
  return device.deviceId;
}

async function countInstall(core: Core, packId: string, deviceId: string, version: string): Promise<void> {
  const installed = rows(core.store).installed.get(packId, deviceId);
  if (installed === version) return;
  try {
    await core.store.write(() => {
      rows(core.store).install.run(packId, deviceId, version, core.clock.now());
      // A device that comes for another version changes no figure.
      if (installed === undefined) forgetPacks(core);
    });
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
    core.log.warn("install_not_counted", { pack: packId });
  }
}

/** A pack's own folder in a repository's brain, so that it never mixes with the repository's own files. */
export const installFolder = (name: string) => `.claude/brain/packs/${name}`;

/** Where an archive is served, below the base URL. */
export const archivePath = (name: string, version: string): `/${string}` =>
  `/marketplace/packs/${name}/${encodeURIComponent(version)}/download`;

/** What a line of `tar -t` may be, as an extended regular expression: one folder, no part that begins with a dot, a text file. */
const SOUND = "^[^/]+(/[^./:][^/:]*)*/[^./:][^/:]*\\.(md|markdown|txt|json|ya?ml|toml|csv)$";

/**
 * One line for a POSIX shell that puts a pack into the repository it is run in. It stops before anything is unpacked when the
 * archive is not the one with this SHA-256, when it holds anything but plain text files under plain names (whatever the server
 * let through), and when the pack's folder exists already. Where `RECKON_DEVICE_TOKEN` is set, the
 * device counts as an install.
 */
export function installCommand(
  baseUrl: string,
  { name, version, sha256 }: { readonly name: string; readonly version: string; readonly sha256: string },
): string {
  const folder = installFolder(name);
  const steps = [
    // mkdir fails on what exists, so the last two steps never meet a file of before.
    "f=$(mktemp)",
    `trap 'rm -f "$f"' EXIT`,
    // What is wrong comes as text in place of the archive.
    `{ curl --fail-with-body -sS -H "Authorization: Bearer \${RECKON_DEVICE_TOKEN-}" -o "$f" ${shellQuoted(baseUrl + archivePath(name, version))} || { cat "$f" >&2; false; }; }`,
    `echo "${sha256}  $f" | sha256sum -c -`,
    `{ test -z "$(tar -tzf "$f" | LC_ALL=C grep -Eiv '${SOUND}'; tar -tvzf "$f" | grep -v '^-')" || { echo "the pack holds more than text files; nothing is unpacked" >&2; false; }; }`,
    "mkdir -p .claude/brain/packs",
    `mkdir ${folder}`,
    `tar -xzf "$f" -C ${folder} --strip-components=1`,
  ];
  return `(${steps.join(" && ")})`;
}
