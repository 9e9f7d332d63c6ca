import type { Core } from "../core.ts";
import { linksDerivation } from "./follow-deliveries.ts";
import { freshen } from "./fresh.ts";

/** Brings the links, and with them the entries and what is known of sessions, up to what was delivered. */
export function catchUpLinks(core: Core): Promise<void> {
  return freshen(core, linksDerivation);
}
