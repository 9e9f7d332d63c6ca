import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as v from "valibot";
import type { Core } from "../../../core.ts";
import { isoInstant } from "../../../kit/clock.ts";
import { SYSTEM } from "../../../platform/audit/audit.ts";
import { addRelease, removeRelease } from "../../../share/releases/releases.ts";
import { control } from "./route.ts";

const RequestBody = v.strictObject({
  version: v.string(),
  platform: v.optional(v.string(), "win32"),
  /** The address of the file; by default the instance itself serves a few bytes. */
  url: v.optional(v.string()),
  sha512: v.optional(v.string()),
  withdraw: v.optional(v.boolean(), false),
});

export const releasesRoute = control(
  {
    method: "POST",
    path: "/_dev/releases",
    description:
      "registers a desktop installer: a small file that the instance serves, or with url and sha512 one elsewhere. " +
      "withdraw (true) takes it back",
    body: RequestBody,
    example: { version: "2.4.0" },
  },
  async ({ local: { core }, body: { withdraw, ...installer } }) => {
    if (withdraw) {
      await removeRelease(core, installer.platform, installer.version, SYSTEM);
      return { withdrawn: installer.version };
    }
    const { createdAt, ...release } =
      installer.url === undefined ? await withFile(core, installer) : await add(core, installer);
    return { release: { ...release, createdAt: isoInstant(createdAt) } };
  },
);

const add = (core: Core, requested: Parameters<typeof addRelease>[1]) => addRelease(core, requested, SYSTEM);

/** Registers a file of a few bytes, which depend on the version. */
async function withFile(core: Core, installer: Parameters<typeof addRelease>[1]) {
  const name = `Reckon-Setup-${installer.version.replace(/[^\w.+-]/g, "-").slice(0, 100)}.exe`;
  const file = join(core.store.directory, name);
  try {
    writeFileSync(file, `Not a program: stands for the installer of version ${installer.version}.\n`, { mode: 0o600 });
    return await add(core, { ...installer, file });
  } finally {
    rmSync(file, { force: true });
  }
}
