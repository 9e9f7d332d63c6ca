import type { Core } from "../../core.ts";
import { findDevice } from "../../identity/devices/devices.ts";
import { StoreUnavailable } from "../../kit/errors.ts";
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
  const found = pack && pack.removedAt === null ? rows(core.store).archive.get(pack.id, version) : undefined;
  if (!pack || !found || whyWithheld(core, found.id) !== null) return undefined;
  return {
    archive: found.archive,
    digest: found.sha256,
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
