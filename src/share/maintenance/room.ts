import { SECOND_MS } from "../../kit/clock.ts";
import { figure } from "../../platform/metrics/metrics.ts";
import { room } from "../../platform/rooms/rooms.ts";
import { removeLeftovers } from "./backup-folder.ts";
import { lastBackup } from "./last-backup.ts";
import { lastReplicaCheck } from "./last-replica-check.ts";
import { backupJob, scheduledBackups } from "./scheduled-backup.ts";

export const maintenance = room({
  name: "maintenance",
  jobs: [backupJob],
  open(core) {
    if (core.config.backupEvery !== null) removeLeftovers(core);
  },
  metrics: [
    figure(
      "gauge",
      "reckon_backup_last_success_timestamp_seconds",
      'When the server or "reckon backup" made the last backup, in seconds since the epoch; 0 where neither ever did.',
      (core) => (lastBackup(core)?.at ?? 0) / SECOND_MS,
    ),
    figure("gauge", "reckon_backup_last_bytes", "Size of that backup.", (core) => lastBackup(core)?.bytes),
    figure(
      "gauge",
      "reckon_backup_failing",
      "1 where the last scheduled backup failed or does not verify, 0 where it is well; none where none are scheduled.",
      (core) => {
        const facts = scheduledBackups(core);
        return facts && Number(facts.failure !== null);
      },
    ),
    figure(
      "gauge",
      "reckon_replica_check_last_success_timestamp_seconds",
      'When "reckon replica check" found the replica whole last, in seconds since the epoch; 0 where it never did, none where it never ran.',
      ({ store }) => {
        const last = lastReplicaCheck(store.directory);
        return last && (last.goodAt ?? 0) / SECOND_MS;
      },
    ),
    figure(
      "gauge",
      "reckon_replica_check_failing",
      "1 where the last check of the replica failed, 0 where it was well.",
      ({ store }) => {
        const last = lastReplicaCheck(store.directory);
        return last && Number(last.failure !== null);
      },
    ),
  ],
});
