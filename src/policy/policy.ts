/**
 * Policy: what a team lets its capture agents record, with its history.
 * Not here: carrying it out, which is the capture agent's work.
 */
export { currentPolicy, parsePolicy, setPolicy } from "./policies.ts";
