import { asText } from "../formats/values.ts";
import { DAY_MS, MINUTE_MS } from "../kit/clock.ts";
import { type Exchange, rejectBinding } from "./exchange.ts";
import { leaveKnown } from "./known-sessions.ts";
import { isDue, notBefore } from "./schedule.ts";
import { sendSessions } from "./send-sessions.ts";
import { sendTelemetry } from "./send-telemetry.ts";
import { isForOneJob, readCredentials, writeCredentials } from "./state.ts";

const HEARTBEAT_MS = 15 * MINUTE_MS;
/** A token lives 90 days and is replaced after 60 of them. */
const ROTATE_BEFORE_MS = 30 * DAY_MS;

/** Sends whatever waits, as far as the server takes it now; then what is due at intervals. */
export async function sendAll(exchange: Exchange): Promise<void> {
  if (!(await leaveKnown(exchange))) return;
  // Streams first: their numbers tell whether the server has lost something.
  if (exchange.mayDo("telemetry")) await sendTelemetry(exchange);
  if (exchange.stopped === undefined && exchange.mayDo("traces")) await sendSessions(exchange);
}

/** Tells the server that this machine is at work, every 15 minutes while it is. */
export async function sendHeartbeat(exchange: Exchange): Promise<void> {
  const { capture } = exchange;
  if (!isDue(capture, "heartbeat", HEARTBEAT_MS)) return;
  const answer = await exchange.post("/api/telemetry/heartbeat", undefined, "heartbeat");
  if (answer.kind === "ok") notBefore(capture, "heartbeat", HEARTBEAT_MS);
}

/**
 * Replaces the token when a third of its life is left. Only right after the server answered, because a reply that is lost costs the
 * binding. Call while the pass has its lock.
 */
export async function rotateToken(exchange: Exchange): Promise<void> {
  const { capture } = exchange;
  const { expiresAt } = exchange.credentials;
  if (!exchange.hasAnswered || expiresAt === null || !isDue(capture, "rotate", DAY_MS)) return;
  const now = capture.clock.now();
  if (Date.parse(expiresAt) - now > ROTATE_BEFORE_MS || isForOneJob(exchange.credentials, now)) return;
  // Whether it succeeds or not, the next hook does not try again.
  notBefore(capture, "rotate", DAY_MS);
  // A full disk would cost the binding, too: writing is tried first.
  writeCredentials(capture.places, exchange.credentials);
  const answer = await exchange.post("/api/connect/rotate", undefined, "rotate");
  const token = answer.kind === "ok" ? asText(answer.body.deviceToken) : undefined;
  if (answer.kind === "refused" && answer.status === 409) rejectBinding(capture, answer.reason);
  if (answer.kind !== "ok" || token === undefined) return;
  const renewed = {
    ...(readCredentials(capture.places) ?? exchange.credentials),
    token,
    expiresAt: asText(answer.body.expiresAt) ?? null,
  };
  writeCredentials(capture.places, renewed);
  exchange.credentials = renewed;
}
