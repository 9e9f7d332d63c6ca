import { programVersion } from "../../kit/assets.ts";
import { figure, type Metric } from "./metrics.ts";

export const processMetrics: readonly Metric[] = [
  figure("gauge", "reckon_build_info", "Always 1; the label is the program's version.", () => [
    [{ version: programVersion() }, 1],
  ]),
  // Named as every client library names it, so that boards and rules for any program have it.
  figure(
    "gauge",
    "process_start_time_seconds",
    "When the process began, in seconds since the epoch.",
    () => performance.timeOrigin / 1000,
  ),
];
