import type { Core } from "../../core.ts";
import { fail, notFound } from "../../kit/problem.ts";
import { type Actor, COMMAND_LINE, recordEvent } from "../../platform/audit/audit.ts";
import { dropFile } from "./files.ts";
import { rows } from "./rows.ts";
import { platformOf } from "./rules.ts";

/** Withdraws an installer, its file included. @throws Problem (404) when it is not registered */
export async function removeRelease(
  core: Core,
  platformName: string,
  version: string,
  by: Actor = COMMAND_LINE,
): Promise<void> {
  const platform = platformOf(platformName) ?? "";
  const removed = await core.store.write(() => {
    const row = rows(core.store).one.get(platform, version);
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
