/**
 * Finds secrets in text and JSON and takes them out, before anything is stored.
 * Owns the rule table, the scan and what stands in a redacted text; offsets are UTF-16 code units.
 * Does not decide what happens on a finding (refusing an upload, counting): the callers do, and none of it logs a value.
 */

export {
  mightLongHoldSecret,
  partsThatMightHold,
  redactLongJson,
  redactLongText,
} from "./in-slices.ts";
export { redactJson } from "./json.ts";
export { mightHoldSecret } from "./might-hold.ts";
export type { Finding } from "./reading.ts";
export { RULES_VERSION } from "./rules.ts";
export { findSecrets, lineCounter, makeSearchReady, redactText } from "./scan.ts";
export { readUserAgent } from "./user-agent.ts";
