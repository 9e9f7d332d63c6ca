import { instantOrNull, isoInstant } from "../kit/clock.ts";
import { ignoredBrains } from "./brain/publish.ts";
import { rejectionOf } from "./exchange.ts";
import { lastMove, type Move } from "./moved.ts";
import { knownPolicy, quietNow } from "./policy.ts";
import { SERVER_WAS_RESTORED } from "./restored-server.ts";
import { IS_COPIED, STATE_WAS_OLDER } from "./send-telemetry.ts";
import { type Capture, LAST_PASS, readCredentials, readSetting, SINCE } from "./state.ts";
import { outboxBytes } from "./sweep.ts";

/** A state, and when it ends; null: nothing ends it by itself. */
interface Until {
  readonly reason: string;
  readonly until: string | null;
}

/** What is true of the capture client now. Instants are RFC 3339 texts. */
export interface Status {
  readonly connected: boolean;
  readonly url: string | null;
  readonly team: string | null;
  readonly tokenExpiresAt: string | null;
  readonly captureMode: string | null;
  readonly policyAt: string | null;
  readonly quiet: Until | null;
  readonly watched: readonly { readonly agent: string; readonly transcripts: number; readonly bytes: number }[];
  readonly sessions: number;
  readonly waiting: { readonly sessions: number; readonly entries: number; readonly bytes: number };
  /** Whether nothing more is read until the server has taken some of it. */
  readonly isFull: boolean;
  readonly rejected: number;
  readonly unknown: readonly { readonly agent: string; readonly kind: string; readonly count: number }[];
  /** Transcripts, and folders of them, that the last pass could not read. */
  readonly unreadable: readonly { readonly path: string; readonly reason: string }[];
  /** Repositories with files of the brain that are not published, because git ignores them; null: git did not say which. */
  readonly ignoredBrains: readonly { readonly repo: string; readonly files: number | null }[];
  readonly lastPass: string | null;
  readonly lastContact: string | null;
  /** Why the server is not asked now, or not for everything, and until when. */
  readonly trouble: Until | null;
  /** When the server was found to know less than before, and was sent again what it had lost. */
  readonly serverWasRestored: string | null;
  /** When this machine's own records were found to be older than what the server has, and went on behind that. */
  readonly stateWasOlder: string | null;
  /** The last server that the team moved to, and why this machine did not follow; null where it never moved. */
  readonly move: (Omit<Move, "at"> & { readonly at: string }) | null;
}

/** What is wrong, and what to do, where another machine sends as this one. */
const COPIED =
  "another machine sends as this one, from a copy of its folder: on each of them, connect again with a new code";

/** What is wrong, and what to do, where `agent.db` was deleted. */
export const FORGOTTEN = "this machine no longer knows from when on it may read: connect again with a new code";

/** A setting: whether the last pass stopped reading because too much waits. */
export const IS_FULL = "isFull";
const SENDING = ["server", "telemetry", "traces", "brain"] as const;

export function readStatus(capture: Capture): Status {
  const { rows } = capture;
  const credentials = readCredentials(capture.places);
  const policy = knownPolicy(capture);
  const move = lastMove(capture);
  const { sessions, unsent } = rows.countSessions.get() ?? { sessions: 0, unsent: 0 };
  return {
    connected: credentials !== undefined,
    url: credentials?.url ?? null,
    team: credentials?.teamName ?? null,
    tokenExpiresAt: credentials?.expiresAt ?? null,
    captureMode: policy?.captureMode ?? null,
    policyAt: instantOrNull(policy?.at ?? null),
    quiet: untilText(quietNow(capture)),
    watched: rows.countSources.all().map(({ agent, files, bytes }) => ({ agent, transcripts: files, bytes })),
    sessions,
    waiting: { sessions: unsent, entries: rows.countEntries.get()?.waiting ?? 0, bytes: outboxBytes(capture) },
    isFull: readSetting<boolean>(capture, IS_FULL) ?? false,
    rejected: rows.countRejected.get() ?? 0,
    unknown: rows.unknown.all(),
    unreadable: readSetting(capture, "unreadable") ?? [],
    ignoredBrains: ignoredBrains(capture),
    lastPass: settingAt(capture, LAST_PASS),
    lastContact: settingAt(capture, "lastContact"),
    trouble: untilText(troubleOf(capture, credentials !== undefined)),
    serverWasRestored: settingAt(capture, SERVER_WAS_RESTORED),
    stateWasOlder: settingAt(capture, STATE_WAS_OLDER),
    move: move ? { ...move, at: isoInstant(move.at) } : null,
  };
}

/** A setting that holds an instant. */
const settingAt = (capture: Capture, name: string) => instantOrNull(readSetting<number>(capture, name) ?? null);

/** A state and its end, by the clock: milliseconds since the epoch; null: nothing ends it by itself. */
interface Lasting {
  readonly reason: string;
  readonly until: number | null;
}

const untilText = (one: Lasting | null | undefined): Until | null =>
  one ? { reason: one.reason, until: instantOrNull(one.until) } : null;

function troubleOf(capture: Capture, isConnected: boolean): Lasting | null {
  const rejection = rejectionOf(capture);
  if (rejection) return { reason: rejection.reason, until: null };
  if (isConnected && readSetting(capture, SINCE) === undefined) return { reason: FORGOTTEN, until: null };
  const isCopied = readSetting(capture, IS_COPIED) !== undefined;
  return putOffNow(capture) ?? (isCopied ? { reason: COPIED, until: null } : null);
}

/** Why something that waits is sent later, and when; null where nothing was put off. */
export function putOffNow({ rows, clock }: Capture): Lasting | null {
  const row = SENDING.map((task) => rows.schedule.get(task)).find((one) => one?.reason && one.nextAt > clock.now());
  return row ? { reason: row.reason ?? "", until: row.nextAt } : null;
}
