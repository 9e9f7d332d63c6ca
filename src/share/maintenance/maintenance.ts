/**
 * Maintenance: backup, restore, the doctor and the proof that the ledger holds.
 * Not here: how a damaged file is noticed at start (store), how deliveries get into the ledger (log).
 */
export { backup } from "./backup.ts";
export { type CopyFacts, inspectCopy, type Parts, withCopy } from "./copies.ts";
export { examine, storageFacts } from "./doctor.ts";
export { lastBackup, staleBackup } from "./last-backup.ts";
export { noteReplicaCheck, staleReplica } from "./last-replica-check.ts";
export type { Lost } from "./lost.ts";
export { type CheckedReplica, checkReplica, withRestored } from "./replica-check.ts";
export { type BackupFacts, inspectBackup, restore } from "./restore.ts";
export { type RestoredCopy, restoreCopy } from "./restore-copy.ts";
export { makeVerified, type ScheduledBackups, scheduledBackups } from "./scheduled-backup.ts";
export { verifyExcerpt, verifyLedger } from "./verify-ledger.ts";
