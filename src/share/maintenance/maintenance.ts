/**
 * Maintenance: backup, restore, the doctor and the proof that the ledger holds.
 * Not here: how a damaged file is noticed at start (store), how deliveries get into the ledger (log).
 */
export { backup } from "./backup.ts";
export { examine, storageFacts } from "./doctor.ts";
export { lastBackup, lastBackupAt } from "./last-backup.ts";
export { inspectBackup, restore } from "./restore.ts";
export { makeVerified, type ScheduledBackups, scheduledBackups } from "./scheduled-backup.ts";
export { requireVerified, verifyCopy } from "./verify-copy.ts";
export { verifyLedger } from "./verify-ledger.ts";
