import type { Core } from "../../core.ts";
import { isoInstant } from "../../kit/clock.ts";
import { counted } from "../../kit/strings.ts";
import { troubledJobs } from "../../platform/jobs/jobs.ts";
import { sealedBlocks } from "../../record/telemetry/telemetry.ts";
import { lakeJob } from "./flow.ts";
import { rows } from "./rows.ts";

/** What is known of the lake. */
export interface LakeStatus {
  readonly place: string;
  /** What this installation's objects are named by. */
  readonly shard: string;
  /** All that was to be there at this instant is, in milliseconds since the epoch; null before the first time. */
  readonly currentAt: number | null;
  /** Blocks that are not there yet, at most; days that are to be written; blocks that are to be taken away. */
  readonly waiting: { readonly blocks: number; readonly days: number; readonly removals: number };
  /** Why the last try failed; null where it did not. */
  readonly failure: string | null;
}

/** Undefined where there never was a lake. */
export function lakeStatus(core: Core): LakeStatus | undefined {
  const sql = rows(core.store);
  const known = sql.place.get();
  if (!known) return undefined;
  return {
    place: known.place.trim(),
    shard: known.shard,
    currentAt: known.currentAt,
    waiting: {
      blocks: Math.max(0, sealedBlocks.last(core) - known.lastBlock),
      days: sql.countMarks.get() ?? 0,
      removals: sql.countGone.get() ?? 0,
    },
    failure: troubledJobs(core).find(({ job }) => job === lakeJob.name)?.cause ?? null,
  };
}

/** The same in a line. */
export function lakeText({ place, currentAt, waiting: { blocks, days, removals } }: LakeStatus): string {
  const upTo = currentAt === null ? "not whole yet" : `holds all up to ${isoInstant(currentAt)}`;
  return `${place} ${upTo}; to come: ${counted(blocks, "block")}, ${counted(days, "day")}, ${counted(removals, "removal")}`;
}

/** What an erasure is told of it as a copy; none where there is none. */
export function lakeCopies(core: Core): string[] {
  const status = lakeStatus(core);
  if (!status) return [];
  return [
    `the lake ${lakeText(status)}: the server takes what is erased out of it with its next turn, and "reckon lake status" ` +
      "tells when it has (copies that were made of it, and earlier versions of its objects, stay)",
  ];
}
