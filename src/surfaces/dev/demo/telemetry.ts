import { isoInstant, MINUTE_MS, SECOND_MS } from "../../../kit/clock.ts";
import type { DemoEvent, Send } from "./calendar.ts";
import type { DemoSession } from "./sessions.ts";

/** Sessions with which something goes wrong, counted from the newest, so that the overview's days show it. */
const LOST = 9;
const LATE = 15;
const STARTED_OVER = 5;
const CARELESS = 12;

const LOST_ENTRIES = 3;
/** Looks like what people type in a hurry, and is taken out by the server. */
const CARELESS_COMMAND = "DATABASE_PASSWORD=tulip-Ferry-4471 npm run migrate";

interface Entry {
  readonly seq: number;
  readonly payload: object;
  readonly clientTimestamp: string;
}

/** Telemetry of the demo sessions: a stream for each device and repository, with what goes wrong in real ones. */
export class DemoStreams {
  readonly #send: Send;
  readonly #last = new Map<string, number>();

  constructor(send: Send) {
    this.#send = send;
  }

  happenings(sessions: readonly DemoSession[]): DemoEvent[] {
    return sessions.flatMap((session, i) => this.#tell(session, sessions.length - i));
  }

  #tell(session: DemoSession, fromNewest: number): DemoEvent[] {
    const stream = `${session.device} ${session.repoKey}`;
    const before = (this.#last.get(stream) ?? 0) + (fromNewest === LOST ? LOST_ENTRIES : 0);
    const payloads = fromNewest === CARELESS ? [...session.payloads, careless(session)] : session.payloads;
    const step = (session.endedAt - session.startedAt) / payloads.length;
    const entries = payloads.map((payload, i) => ({
      seq: before + i + 1,
      payload,
      clientTimestamp: isoInstant(session.startedAt + Math.round((i * step) / SECOND_MS) * SECOND_MS),
    }));
    this.#last.set(stream, before + entries.length);
    const deliver = (at: number, sent: readonly Entry[]): DemoEvent => ({
      at,
      happen: () =>
        this.#send(session.device, "/api/telemetry/ingest", { repoKey: session.repoKey, mode: "live", entries: sent }),
    });
    const at = session.endedAt + 2 * MINUTE_MS;
    // A late batch leaves a gap until it arrives after its successor.
    if (fromNewest === LATE) return [deliver(at, entries.slice(6)), deliver(at + 30 * MINUTE_MS, entries.slice(0, 6))];
    // An agent that lost its counter begins again at numbers that were used before.
    const over = entries.slice(0, 4).map((entry, i) => ({ ...entry, seq: i + 1 }));
    return [deliver(at, entries), ...(fromNewest === STARTED_OVER ? [deliver(at + MINUTE_MS, over)] : [])];
  }
}

const careless = ({ id }: DemoSession) => ({ type: "tool", sessionId: id, tool: "Bash", command: CARELESS_COMMAND });
