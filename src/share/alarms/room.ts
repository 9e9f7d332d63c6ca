import { room } from "../../platform/rooms/rooms.ts";
import { digestJob } from "./digest.ts";
import { alarmsJob } from "./watch.ts";

export const alarms = room({ name: "alarms", jobs: [alarmsJob, digestJob] });
