import type { Core } from "../core.ts";
import { catchUp } from "../derive/derive.ts";
import { StoreUnavailable } from "../kit/unavailable.ts";
import { entriesDerivation } from "./follow-brains.ts";

/** Brings the entries up to what was delivered. While nothing can be stored, what stands is good enough to be read. */
export async function catchUpEntries(core: Core): Promise<void> {
  try {
    await catchUp(core, entriesDerivation);
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
    core.log.warn("entries_behind", { cause: String(error.cause) });
  }
}
