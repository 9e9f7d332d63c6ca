import type { Core } from "../../core.ts";
import { cooperative } from "../../kit/yield.ts";
import type { Projection } from "../../platform/projections/projections.ts";
import { lastEntryId, usageCandidates } from "../../record/telemetry/telemetry.ts";
import { addRecords, applyChanges, applySome, type Changes, emptyOlder, PROJECTIONS } from "./changes.ts";
import { isByMeasures } from "./dedupe-key.ts";
import { readEntry } from "./read-entry.ts";
import type { UsageRecord } from "./usage-record.ts";

/** Entries looked at between two turns of others, and at most for one transaction. */
const BATCH_ENTRIES = 100;
const MAX_ENTRIES = 2_000;
/** Usages after which a batch ends: what is stored in one transaction keeps others waiting. */
const ENOUGH_USAGES = 250;

/** Usage and cost as entries of telemetry report them. */
export const spendEntriesProjection: Projection = {
  name: PROJECTIONS.entries,
  newest: lastEntryId,
  async next(core, checkpoint, alone) {
    const yieldNow = cooperative(core.clock);
    const [step, most] = alone ? [1, 1] : [BATCH_ENTRIES, MAX_ENTRIES];
    const records: UsageRecord[] = [];
    // Marks and links may be reported once or often: it is the same.
    const marks = new Map<string, UsageRecord>();
    let to = checkpoint;
    for (let seen = 0; seen < most && records.length < ENOUGH_USAGES; seen += step) {
      const found = usageCandidates(core, to, step);
      if (!found) break;
      to = found.to;
      for (const record of found.entries.flatMap(readEntry))
        if (record.dimensions) records.push(record);
        else marks.set(`${record.teamId}${record.key.toString("latin1")}`, record);
      await yieldNow();
    }
    if (to === checkpoint) return undefined;
    const changes: Changes = new Map();
    addRecords(changes, [...records, ...marks.values()]);
    return { to, apply: applyAll(core, changes) };
  },
  skip: (core, checkpoint) => usageCandidates(core, checkpoint, 1)?.to,
};

/**
 * Applies what entries report, for as long as one transaction may take. Reports with an id may be applied again without effect. Those
 * without add up, so all of them are stored together with the checkpoint: a batch that was stored in part is begun anew as a whole.
 */
function applyAll(core: Core, changes: Changes): () => "more" | undefined {
  const [withoutId, others]: [Changes, Changes] = [new Map(), new Map()];
  for (const [name, change] of changes) (isByMeasures(change.key) ? withoutId : others).set(name, change);
  return () => {
    if (emptyOlder(core) || applySome(core, others)) return "more";
    applyChanges(core, withoutId);
    return undefined;
  };
}
