/**
 * Defects: the dated entries of the errors, security and anti-patterns files in a team's current brains, their classes and
 * trend, and the briefing made of them.
 * Not here: what caused a defect (causes), what the files say otherwise (brain).
 */

export { DEFECT_KINDS } from "../../formats/brain-kinds.ts";
export { onWire } from "../../formats/errors/fingerprint.ts";
export { parseFile } from "../../formats/errors/parse.ts";
export { makeBriefing } from "./briefing.ts";
export { defectsOfClass, entryText, findDefect, newestWith, wholeClass } from "./browse.ts";
export { errorCalendar } from "./calendar.ts";
export { countEndedClasses, recurredWithin, recurringClasses } from "./classes.ts";
export { errorDays } from "./daily.ts";
export type { Defect } from "./entry.ts";
export { findClass, pageOfClasses } from "./error-classes.ts";
export { defectFacts } from "./facts.ts";
export { entriesAnew, entriesProjection, freshenEntries } from "./follow-brains.ts";
export { listDefects, newestEntryId } from "./list.ts";
export { brainMetrics, countEntries } from "./metrics.ts";
