import { room } from "../platform/rooms/rooms.ts";
import { logMetrics } from "./figures.ts";

export const deliveryLog = room({ name: "log", metrics: logMetrics });
