import type { Core } from "../../core.ts";
import { refreshWithin } from "../../platform/projections/projections.ts";
import { entriesProjection } from "./follow-brains.ts";

/** For pages and briefings: brings the entries up to what was delivered where that is soon done, else what stands is shown. */
export const freshenEntries = (core: Core): Promise<void> => refreshWithin(core, entriesProjection);
