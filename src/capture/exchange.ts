import { DAY_MS } from "../kit/clock.ts";
import { type Answer, ask, type RequestOptions } from "./client.ts";
import { notBefore, putOff, succeeded, type Task } from "./schedule.ts";
import { type Capture, type Credentials, readSetting, writeSetting } from "./state.ts";

/** Why the server does not know this machine any more. */
export interface Rejection {
  readonly reason: string;
  readonly at: number;
}
const REJECTION = "rejection";

/** Set while the server refuses this machine's token: then nothing is asked of it until a person connects anew. */
export const rejectionOf = (capture: Capture): Rejection | undefined =>
  readSetting<Rejection>(capture, REJECTION) ?? undefined;
/** Notes that the server does not know this machine any more. */
export const rejectBinding = (capture: Capture, reason: string): void =>
  writeSetting(capture, REJECTION, { reason, at: capture.clock.now() } satisfies Rejection);
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
      rejectBinding(capture, answer.reason);
    } else if (answer.status === 402) {
      notBefore(capture, task, DAY_MS, answer.reason);
    }
    return answer;
  }
}
