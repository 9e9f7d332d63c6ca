import type { Core } from "../../core.ts";
import { findDefect } from "../defects/defects.ts";
import { evidenceRows } from "./evidence-rows.ts";
import { type LinkRow, linkRows } from "./link-rows.ts";

/** Row change: stores a link, unless its entry or its session was erased since they were read. @returns whether they are there */
export function storeLink(
  core: Core,
  link: Omit<LinkRow, "verdict" | "decidedBy" | "decidedAt" | "goneAfter">,
): boolean {
  const { teamId, entryId, sessionId } = link;
  if (!findDefect(core, teamId, entryId)) return false;
  if (sessionId !== null && !evidenceRows(core.store).window.get(sessionId)) return false;
  linkRows(core.store).insert.run(link);
  return true;
}
