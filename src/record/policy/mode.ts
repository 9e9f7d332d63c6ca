import { type Core, slot } from "../../core.ts";
import { type CaptureMode, DEFAULT_POLICY, type Policy } from "./document.ts";
import { rows } from "./rows.ts";

/** Teams remembered at most. */
const MAX_TEAMS = 10_000;

/** A document may be long, and every delivery asks for one member of it. */
const remembered = slot(({ store }) => ({
  byTeam: new Map<string, CaptureMode>(),
  hasChangedOutside: store.watchOutside(),
}));

/** What a team lets be recorded now; a change by another process shows after 25 ms at most. */
export function captureModeOf(core: Core, teamId: string): CaptureMode {
  const { byTeam, hasChangedOutside } = remembered(core);
  if (hasChangedOutside(core.clock.monotonic()) || byTeam.size >= MAX_TEAMS) byTeam.clear();
  const known = byTeam.get(teamId);
  if (known) return known;
  const stored = rows(core.store).current.get(teamId);
  const { captureMode } = stored ? (JSON.parse(stored.document) as Policy) : DEFAULT_POLICY;
  byTeam.set(teamId, captureMode);
  return captureMode;
}

/** Makes the next delivery look again; call where a policy is put in force. */
export function forgetCaptureMode(core: Core, teamId: string): void {
  remembered(core).byTeam.delete(teamId);
}
