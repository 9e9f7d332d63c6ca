import { room } from "../platform/rooms/rooms.ts";
import { logMetrics } from "./figures.ts";
import { timedWalk } from "./timed-walk.ts";

export const deliveryLog = room({
  name: "log",
  metrics: logMetrics,
  open(core) {
    const cause = timedWalk.fromFuture(core);
    if (cause !== undefined) core.log.warn("clock_behind", { cause });
  },
});
