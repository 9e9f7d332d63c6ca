/**
 * Health: whether the database answers and takes writes, for load balancers and operators.
 * Not here: damage to the file (store and the doctor), figures over time (metrics).
 */
export { probeStore } from "./probe.ts";
