/**
 * Policy: what a team lets its capture agents record, with its history.
 * Not here: carrying it out, which is the capture agent's work.
 */
export { comparePolicies, type PolicyChange } from "./changes.ts";
export { CAPTURE_MODES, type CaptureMode, type Policy, parsePolicy } from "./document.ts";
export { listPolicies, type PolicyEntry, restorePolicy } from "./history.ts";
export { currentPolicy, currentVersion, newerPolicy, type PolicyVersion, setPolicy } from "./policies.ts";
export { MAX_GLOBS, readWatchlist, type WrongGlob } from "./watchlist.ts";
