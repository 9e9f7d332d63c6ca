/**
 * OTLP: what agents export by themselves, over OpenTelemetry's protocol, made into the entries and sessions that the capture client sends.
 * Not here: how these are stored (telemetry, traces), what they cost (spend), the wire format (kit).
 */
export { readOtlp } from "./prepare.ts";
