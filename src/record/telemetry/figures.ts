import type { Core } from "../../core.ts";
import { cooperative } from "../../kit/yield.ts";
import { figure, type Metric, sumOfParts, survey } from "../../platform/metrics/metrics.ts";
import { figureRows, type Place } from "./figure-rows.ts";
import { sealedBlocks } from "./sealed.ts";

/** Counts the rows of an index, letting others in between. */
async function countOf(core: Core, index: "gaps" | "unsealed"): Promise<number> {
  const { [index]: sql, sliceRows } = figureRows(core.store);
  const yieldNow = cooperative(core.clock);
  let count = 0;
  for (let at: Place = { streamId: 0, seq: -1 }; ; await yieldNow()) {
    const next = sql.next.get(at);
    if (!next) return count + (sql.rest.get(at) ?? 0);
    count += sliceRows;
    at = next;
  }
}

const streams = sumOfParts(0, ["streams", "entries"], ({ store }, after) => figureRows(store).streamsAfter.get(after));

export const telemetryMetrics: readonly Metric[] = [
  figure(
    "gauge",
    "reckon_telemetry_streams",
    "Streams of telemetry: one for each device and repository.",
    async (core) => (await streams(core)).streams,
  ),
  figure(
    "gauge",
    "reckon_telemetry_entries",
    "Entries of telemetry that are stored.",
    async (core) => (await streams(core)).entries,
  ),
  figure(
    "gauge",
    "reckon_telemetry_gaps",
    "Ranges of numbers that were skipped and have not come since.",
    survey((core) => countOf(core, "gaps")),
  ),
  figure(
    "gauge",
    "reckon_telemetry_unsealed_segments",
    "Stored parts of telemetry that are not compressed yet.",
    survey((core) => countOf(core, "unsealed")),
  ),
  figure(
    "counter",
    "reckon_telemetry_blocks_total",
    "Compressed blocks of telemetry that were made.",
    // No number is given twice.
    sealedBlocks.last,
  ),
];
