/**
 * Defects: the dated entries of the errors, security and anti-patterns files in a team's current brains, their classes and
 * trend, and the briefing made of them.
 * Not here: what caused a defect (causes), what the files say otherwise (brain).
 */
export { defectsOfClass, findDefect, findDefectAt, pageOfDefects } from "./browse.ts";
export type { RecurringClass } from "./classes.ts";
export { countEntries, type EntryCounts } from "./count.ts";
export { countEndedClasses } from "./ended.ts";
export { DEFECT_KINDS, type Defect } from "./entry.ts";
export { entryText } from "./entry-text.ts";
export { onWire } from "./fingerprint.ts";
export { entriesProjection, freshenEntries } from "./follow-brains.ts";
export { titleOfHeading } from "./heading.ts";
export { weeklyHistory } from "./history.ts";
export { listDefects, newestEntryId } from "./list.ts";
export { brainMetrics, type Metrics } from "./metrics.ts";
export { parseEntries, parseFile } from "./parse.ts";
export type { Trend } from "./trend.ts";
