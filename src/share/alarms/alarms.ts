/**
 * Alarms: conditions that are watched, and noted when they begin and when they are over; and the digest of each week.
 * Not here: who hears of them (notifications), figures for Prometheus, which every room declares for itself.
 */
import { room } from "../../platform/rooms/rooms.ts";
import { digestJob } from "./digest.ts";
import { alarmsJob } from "./watch.ts";

export { leaveLastDigest } from "./digest.ts";
export { dueNow } from "./watch.ts";

export const alarms = room({ name: "alarms", jobs: [alarmsJob, digestJob] });
