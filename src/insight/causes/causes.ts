/**
 * Causes: which agent session, and with it which prompt, a defect is put down to, how sure that is, and what people say of it;
 * and the prompt that a line of code comes from.
 * Not here: what counts as a defect (defects), the sessions themselves (traces), what they cost (spend).
 */
export { type Attribution, attribution, type NamedShare } from "./attribution.ts";
export { correlate } from "./correlate.ts";
export { causeErasure } from "./erase.ts";
export { freshenLinks, linksProjection } from "./follow-deliveries.ts";
export { evidenceProjection } from "./follow-sessions.ts";
export { hasHumanVerdict } from "./link-rows.ts";
export { type Link, linksOfEntry, linksOfSession, listLinks } from "./links.ts";
export { promptForLine } from "./prompt-for-line.ts";
export { latestCommits } from "./signals.ts";
export { type Cause, createLink, type Doubt, decideLink, findEntry, getLink } from "./verdicts.ts";
