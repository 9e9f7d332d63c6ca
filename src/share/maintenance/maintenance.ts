/**
 * Maintenance: backup, restore, the doctor and the proof that the ledger holds.
 * Not here: how a damaged file is noticed at start (store), how deliveries get into the ledger (log).
 */
export { backup } from "./backup.ts";
export { examine, storageFacts } from "./doctor.ts";
export { staleBackup } from "./last-backup.ts";
export { inspectBackup, restore } from "./restore.ts";
export { verifyLedger } from "./verify-ledger.ts";
