import type { Core } from "../../core.ts";
import { COMMAND_LINE } from "../../platform/audit/audit.ts";
import { rows } from "./rows.ts";

/** Who minted the code that each of a team's devices was connected with, by device id; devices that no person connected are not in it. */
export function connectedBy(core: Core, teamId: string): ReadonlyMap<string, string> {
  const all = rows(core.store).connectedBy.all(teamId);
  return new Map(all.filter((one) => one.createdBy !== COMMAND_LINE.label).map((one) => [one.deviceId, one.createdBy]));
}
