import { SECOND_MS } from "../../kit/clock.ts";
import { figure } from "../../platform/metrics/metrics.ts";
import { room } from "../../platform/rooms/rooms.ts";
import { lastBackupAt } from "./last-backup.ts";

export const maintenance = room({
  name: "maintenance",
  metrics: [
    figure(
      "gauge",
      "reckon_backup_last_success_timestamp_seconds",
      'When "reckon backup" made the last backup, in seconds since the epoch; 0 where it never did.',
      (core) => (lastBackupAt(core) ?? 0) / SECOND_MS,
    ),
  ],
});
