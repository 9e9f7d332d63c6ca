/**
 * Policy: what a team lets its capture agents record, with its history, and how often a device sent more.
 * Not here: what of a delivery may stay (formats), and leaving out the rest (intake and the rooms of deliveries).
 */
export { comparePolicies, type PolicyChange } from "./changes.ts";
export { CAPTURE_MODES, type CaptureMode, type Policy, parsePolicy } from "./document.ts";
export { eraseMakerOfPolicies, listPolicies, type PolicyEntry, restorePolicy } from "./history.ts";
export { captureModeOf } from "./mode.ts";
export { currentPolicy, currentVersion, newerPolicy, type PolicyVersion, setPolicy } from "./policies.ts";
export { countViolation, violationsOf, violatorsSince } from "./violations.ts";
export { MAX_GLOBS, readWatchlist, type WrongGlob } from "./watchlist.ts";
