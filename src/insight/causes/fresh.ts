import type { Core } from "../../core.ts";
import { refreshWithin } from "../../platform/projections/projections.ts";
import { linksProjection } from "./follow-deliveries.ts";

/**
 * For pages: brings the links, and with them the entries and what is known of sessions, up to what was delivered where that is
 * soon done, else what stands is shown.
 */
export const freshenLinks = (core: Core): Promise<void> => refreshWithin(core, linksProjection);
