/**
 * Defects: the dated entries of the errors, security and anti-patterns files in a team's current brains, their classes and
 * trend, and the briefing made of them.
 * Not here: what caused a defect (causes), what the files say otherwise (brain).
 */
export { type Briefing, type Item, makeBriefing } from "./briefing.ts";
export { defectsOfClass, findDefect, findDefectAt, pageOfDefects } from "./browse.ts";
export { type RecurringClass, recurringClasses } from "./classes.ts";
export { countEntries, type EntryCounts } from "./count.ts";
export { countEndedClasses, type Learnt } from "./ended.ts";
export { DEFECT_KINDS, type Defect, type DefectKind, type Entry } from "./entry.ts";
export { entryText } from "./entry-text.ts";
export { onWire, WIRE_DIGITS } from "./fingerprint.ts";
export { entriesDerivation } from "./follow-brains.ts";
export { catchUpEntries } from "./fresh.ts";
export { weeklyHistory } from "./history.ts";
export { type DefectFilter, listDefects } from "./list.ts";
export { brainMetrics, type Metrics } from "./metrics.ts";
export { type ParsedFile, parseEntries, parseFile } from "./parse.ts";
export type { Trend, Week } from "./trend.ts";
