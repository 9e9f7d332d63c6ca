import type { Core } from "../../src/core.ts";
import { verifyLedger } from "../../src/share/maintenance/maintenance.ts";

/** What is wrong with an instance's ledger, all of it looked at: nothing, as a rule. */
export const ledgerFaults = (core: Core) => verifyLedger(core, undefined, () => {}).faults;
