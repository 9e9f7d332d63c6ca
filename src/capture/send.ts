import { asText } from "../formats/values.ts";
import { DAY_MS, MINUTE_MS } from "../kit/clock.ts";
import { type Answer, ask, type RequestOptions } from "./client.ts";
import { isDue, notBefore, putOff, succeeded, type Task } from "./schedule.ts";
import { sendSessions } from "./send-sessions.ts";
import { sendTelemetry } from "./send-telemetry.ts";
import {
  type Capture,
  type Credentials,
  readCredentials,
  readSetting,
  writeCredentials,
  writeSetting,
} from "./state.ts";

const HEARTBEAT_MS = 15 * MINUTE_MS;
/** A token lives 90 days and is replaced after 60 of them. */
const ROTATE_BEFORE_MS = 30 * DAY_MS;

/** Why the server does not know this machine any more. */
export interface Rejection {
  readonly reason: string;
  readonly at: number;
}
const REJECTION = "rejection";

/** Set while the server refuses this machine's token: then nothing is asked of it until a person connects anew. */
export const rejectionOf = (capture: Capture): Rejection | undefined =>
  readSetting<Rejection>(capture, REJECTION) ?? undefined;
export const clearRejection = (capture: Capture): void => writeSetting(capture, REJECTION, null);

/** One pass's talk with the server: the first answer that says "not now" ends it. */
export class Exchange {
  readonly capture: Capture;
  credentials: Credentials;
  /** Why it ended early; undefined while it has not. */
  stopped: string | undefined;
  /** When it is worth trying again, in milliseconds from now. */
  retryInMs: number | undefined;
  hasAnswered = false;
  sessionsSent = 0;
  readonly progressed: () => void;

  constructor(capture: Capture, credentials: Credentials, progressed: () => void = () => {}) {
    this.capture = capture;
    this.credentials = credentials;
    this.progressed = progressed;
  }

  /** Posts JSON, see `request`. */
  post(path: string, body: string | undefined, task: Task): Promise<Answer> {
    const compressed = path === "/api/telemetry/ingest";
    return this.request(path, { method: "POST", ...(body === undefined ? {} : { body }), compressed }, task);
  }

  /**
   * Asks the server, and draws the conclusions that hold for every request.
   * @param task what rests for a day when the team's tier does not include it
   */
  async request(path: string, options: RequestOptions, task: Task): Promise<Answer> {
    const { capture, credentials } = this;
    const answer = await ask(credentials.url, path, { ...options, token: credentials.token });
    if (answer.kind === "ok") {
      this.hasAnswered = true;
      if (capture.rows.schedule.get("server")) succeeded(capture, "server");
      writeSetting(capture, "lastContact", capture.clock.now());
    } else if (answer.kind === "later") {
      this.stopped = answer.reason;
      this.retryInMs = putOff(capture, "server", answer.reason, answer.afterMs);
    } else if (answer.status === 401 || answer.status === 403) {
      this.stopped = answer.reason;
      writeSetting(capture, REJECTION, { reason: answer.reason, at: capture.clock.now() } satisfies Rejection);
    } else if (answer.status === 402) {
      notBefore(capture, task, DAY_MS, answer.reason);
    }
    return answer;
  }
}

/** Sends whatever waits, as far as the server takes it now; then what is due at intervals. */
export async function sendAll(exchange: Exchange): Promise<void> {
  const { capture } = exchange;
  if (isDue(capture, "traces")) await sendSessions(exchange);
  if (exchange.stopped === undefined && isDue(capture, "telemetry")) await sendTelemetry(exchange);
}

/** Tells the server that this machine is at work, every 15 minutes while it is. */
export async function sendHeartbeat(exchange: Exchange): Promise<void> {
  const { capture } = exchange;
  if (!isDue(capture, "heartbeat", HEARTBEAT_MS)) return;
  const answer = await exchange.post("/api/telemetry/heartbeat", undefined, "heartbeat");
  if (answer.kind === "ok") notBefore(capture, "heartbeat", HEARTBEAT_MS);
}

/**
 * Replaces the token when a third of its life is left, right after the server answered: a reply that is lost costs the binding, so
 * the line is tried out first. Call while the pass has its lock.
 */
export async function rotateToken(exchange: Exchange): Promise<void> {
  const { capture } = exchange;
  const { expiresAt } = exchange.credentials;
  if (!exchange.hasAnswered || expiresAt === null || !isDue(capture, "rotate", DAY_MS)) return;
  if (Date.parse(expiresAt) - capture.clock.now() > ROTATE_BEFORE_MS) return;
  // Whatever comes of it, not again with the next hook.
  notBefore(capture, "rotate", DAY_MS);
  const answer = await exchange.post("/api/connect/rotate", undefined, "rotate");
  const token = answer.kind === "ok" ? asText(answer.body.deviceToken) : undefined;
  if (answer.kind === "refused" && answer.status === 409)
    writeSetting(capture, REJECTION, { reason: answer.reason, at: capture.clock.now() } satisfies Rejection);
  if (answer.kind !== "ok" || token === undefined) return;
  const renewed = {
    ...(readCredentials(capture.places) ?? exchange.credentials),
    token,
    expiresAt: asText(answer.body.expiresAt) ?? null,
  };
  writeCredentials(capture.places, renewed);
  exchange.credentials = renewed;
}
