import type { Core } from "../../core.ts";
import { fail, invalid } from "../../kit/problem.ts";
import { openCopy } from "../../platform/store/store.ts";
import { type LedgerReport, verifyLedger } from "./verify-ledger.ts";

/**
 * Compares the ledger of a copy of a database with all that the copy holds, as `verifyLedger` does. Changes nothing.
 * @param onProgress told the share done, 0 to 1
 * @throws DataDirectoryError when it is not ours, or is newer than this program
 */
export function verifyCopy(
  core: Pick<Core, "config" | "clock" | "random" | "log">,
  file: string,
  onProgress: (share: number) => void,
): LedgerReport {
  const { config, clock, random, log } = core;
  const store = openCopy(file);
  try {
    return verifyLedger({ config, clock, random, log, store, state: new Map() }, undefined, onProgress);
  } finally {
    store.close();
  }
}

/** @throws Problem naming the first of the faults, where there are some */
export function requireVerified(file: string, { faults }: LedgerReport): void {
  const [first] = faults;
  if (!first) return;
  const of = first.deliveryId === 0 ? "" : ` of delivery ${first.deliveryId}`;
  fail(
    invalid,
    `the ledger of ${file} does not verify: ${faults.length} faults, such as ${first.problem}${of}: ${first.detail}`,
  );
}
