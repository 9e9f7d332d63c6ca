import type { Core } from "../core.ts";
import { catchUp, type Derivation } from "../derive/derive.ts";
import { StoreUnavailable } from "../kit/unavailable.ts";

/** Brings a derivation up to what was delivered. While nothing can be stored, what stands is good enough to be read. */
export async function freshen(core: Core, derivation: Derivation): Promise<void> {
  try {
    await catchUp(core, derivation);
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
    core.log.warn("causes_behind", { derivation: derivation.name, cause: String(error.cause) });
  }
}
