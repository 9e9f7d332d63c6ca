import { DAY_MS, isoInstant, MINUTE_MS } from "../kit/clock.ts";
import { type Answer, ask, movedToOf, type RequestOptions } from "./client.ts";
import { keepReceipt } from "./receipts.ts";
import { isDue, notBefore, putOff, succeeded, type Task } from "./schedule.ts";
import { type Capture, type Credentials, readSetting, writeSetting } from "./state.ts";

/** Why the server does not know this machine any more. */
export interface Rejection {
  readonly reason: string;
  readonly at: number;
}
const REJECTION = "rejection";

/** Set while the server refuses this machine's token, until a person connects anew or the server takes it again. */
export const rejectionOf = (capture: Capture): Rejection | undefined =>
  readSetting<Rejection>(capture, REJECTION) ?? undefined;
/**
 * Whether the server refused the token within the hour. It is asked again after that: one that was started on other data by mistake must
 * not lose its machines for ever.
 */
export function isRejected(capture: Capture): boolean {
  const rejection = rejectionOf(capture);
  return rejection !== undefined && Math.abs(capture.clock.now() - rejection.at) < 60 * MINUTE_MS;
}
/** Notes that the server does not know this machine any more. */
export const rejectBinding = (capture: Capture, reason: string): void =>
  writeSetting(capture, REJECTION, { reason, at: capture.clock.now() } satisfies Rejection);

/** For how long the server asked to be left in peace (`Retry-After`); instants are milliseconds since the epoch. */
interface Pause {
  readonly reason: string;
  readonly from: number;
  readonly until: number;
}
const PAUSE = "pause";

/** The pause that the server asked for, while it lasts. Before its beginning the clock was set back since, and nobody knows its end. */
function pauseNow(capture: Capture): Pause | undefined {
  const pause = readSetting<Pause>(capture, PAUSE);
  const now = capture.clock.now();
  return pause && now >= pause.from && now < pause.until ? pause : undefined;
}

/** Notes that the server takes the token again. */
export const acceptBinding = (capture: Capture): void => writeSetting(capture, REJECTION, null);

/** The server takes something again, or it is another one: what it said before holds no more. */
export function clearRefusals(capture: Capture): void {
  acceptBinding(capture);
  writeSetting(capture, PAUSE, null);
}

/** One pass's talk with the server: the first answer that says "not now" ends it. */
export class Exchange {
  readonly capture: Capture;
  credentials: Credentials;
  /** Why it ended early; undefined while it has not. */
  stopped: string | undefined;
  /** When it is worth trying again, in milliseconds from now. */
  retryInMs: number | undefined;
  hasAnswered = false;
  /** The ids of sessions of which the server has all that was read; one that goes on being read may be sent several times. */
  readonly sessionsSent = new Set<string>();
  /** The ids of sessions that the line is too slow for, however little of them is sent at once. */
  readonly tooSlowFor = new Set<string>();
  /** Why one task was put off while the server is asked for the others. */
  setback: string | undefined;
  /** Where the server said that the team is served now; undefined before it says so, and once that was followed. */
  movedTo: string | undefined;
  hasFollowed = false;
  /** Whether a person waits: then nothing is put off because of an earlier failure, or because it was sent just before. */
  readonly isForced: boolean;

  /** @param isForced see there */
  constructor(capture: Capture, credentials: Credentials, isForced = false) {
    this.capture = capture;
    this.credentials = credentials;
    this.isForced = isForced;
  }

  /** Whether it is time for a task. A person may skip our own pauses, but not one that the server asked for. */
  mayDo(task: Task): boolean {
    const pause = pauseNow(this.capture);
    if (pause) {
      if (this.isForced) this.stopped ??= `${pause.reason}; not before ${isoInstant(pause.until)}`;
      return false;
    }
    return isDue(this.capture, task) || (this.isForced && this.capture.rows.schedule.get(task)?.reason != null);
  }

  /** Puts off the task after a refusal that says nothing of what was sent; the others go on. */
  setBack(task: Task, answer: Answer): void {
    if (answer.kind === "refused" && ![401, 402, 403].includes(answer.status)) this.putOff(task, answer.reason);
  }

  /** Tries a task again later, and the others now. */
  putOff(task: Task, reason: string): void {
    this.setback = reason;
    putOff(this.capture, task, reason);
  }

  /** A task was done: its next failure is its first again. */
  wentWell(task: Task): void {
    if (this.capture.rows.schedule.get(task)) succeeded(this.capture, task);
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
    // A token must not be replaced twice.
    const isRepeatable = task !== "rotate";
    const answer = await ask(credentials.url, path, { ...options, token: credentials.token, isRepeatable });
    if (answer.kind === "ok") {
      this.hasAnswered = true;
      this.wentWell("server");
      capture.transact(() => {
        writeSetting(capture, "lastContact", capture.clock.now());
        clearRefusals(capture);
        keepReceipt(capture, path, options.body ?? "", answer.receipt);
      });
    } else if (answer.kind === "later") {
      const { reason, afterMs } = answer;
      this.stopped = reason;
      // Before the next try is planned: it must not come while the pause still lasts.
      const from = capture.clock.now();
      this.retryInMs = putOff(capture, "server", reason, afterMs);
      if (afterMs !== undefined) writeSetting(capture, PAUSE, { reason, from, until: from + afterMs } satisfies Pause);
    } else if (movedToOf(answer) !== undefined) {
      this.stopped = answer.reason;
      this.movedTo = movedToOf(answer);
    } else if (answer.status === 401 || answer.status === 403) {
      this.stopped = answer.reason;
      rejectBinding(capture, answer.reason);
    } else if (answer.status === 402) {
      notBefore(capture, task, DAY_MS, answer.reason);
    }
    return answer;
  }
}
