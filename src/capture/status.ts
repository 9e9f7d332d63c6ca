import { ignoredBrains } from "./brain/publish.ts";
import { rejectionOf } from "./exchange.ts";
import { lastMove, type Move } from "./moved.ts";
import { knownPolicy, quietNow } from "./policy.ts";
import { SERVER_WAS_RESTORED } from "./restored-server.ts";
import { IS_COPIED, STATE_WAS_OLDER } from "./send-telemetry.ts";
import { type Capture, LAST_PASS, readCredentials, readSetting, SINCE } from "./state.ts";
import { outboxBytes } from "./sweep.ts";

/** What is true of the capture client now. Instants are milliseconds since the epoch. */
export interface Status {
  readonly connected: boolean;
  readonly url: string | null;
  readonly team: string | null;
  readonly tokenExpiresAt: string | null;
  readonly captureMode: string | null;
  readonly policyAt: number | null;
  readonly quiet: { readonly reason: string; readonly until: number | null } | null;
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
  readonly lastPass: number | null;
  readonly lastContact: number | null;
  /** Why the server is not asked now, or not for everything, and until when. */
  readonly trouble: { readonly reason: string; readonly until: number | null } | null;
  /** When the server was found to know less than before, and was sent again what it had lost. */
  readonly serverWasRestored: number | null;
  /** When this machine's own records were found to be older than what the server has, and went on behind that. */
  readonly stateWasOlder: number | null;
  /** The last server that the team moved to, and why this machine did not follow; null where it never moved. */
  readonly move: Move | null;
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
  const { sessions, unsent } = rows.countSessions.get() ?? { sessions: 0, unsent: 0 };
  return {
    connected: credentials !== undefined,
    url: credentials?.url ?? null,
    team: credentials?.teamName ?? null,
    tokenExpiresAt: credentials?.expiresAt ?? null,
    captureMode: policy?.captureMode ?? null,
    policyAt: policy?.at ?? null,
    quiet: quietNow(capture) ?? null,
    watched: rows.countSources.all().map(({ agent, files, bytes }) => ({ agent, transcripts: files, bytes })),
    sessions,
    waiting: { sessions: unsent, entries: rows.countEntries.get()?.waiting ?? 0, bytes: outboxBytes(capture) },
    isFull: readSetting<boolean>(capture, IS_FULL) ?? false,
    rejected: rows.countRejected.get() ?? 0,
    unknown: rows.unknown.all(),
    unreadable: readSetting(capture, "unreadable") ?? [],
    ignoredBrains: ignoredBrains(capture),
    lastPass: readSetting<number>(capture, LAST_PASS) ?? null,
    lastContact: readSetting<number>(capture, "lastContact") ?? null,
    trouble: troubleOf(capture, credentials !== undefined),
    serverWasRestored: readSetting<number>(capture, SERVER_WAS_RESTORED) ?? null,
    stateWasOlder: readSetting<number>(capture, STATE_WAS_OLDER) ?? null,
    move: lastMove(capture) ?? null,
  };
}

function troubleOf(capture: Capture, isConnected: boolean): Status["trouble"] {
  const rejection = rejectionOf(capture);
  if (rejection) return { reason: rejection.reason, until: null };
  if (isConnected && readSetting(capture, SINCE) === undefined) return { reason: FORGOTTEN, until: null };
  const isCopied = readSetting(capture, IS_COPIED) !== undefined;
  return putOffNow(capture) ?? (isCopied ? { reason: COPIED, until: null } : null);
}

/** Why something that waits is sent later, and when; null where nothing was put off. */
export function putOffNow({ rows, clock }: Capture): Status["trouble"] {
  const row = SENDING.map((task) => rows.schedule.get(task)).find((one) => one?.reason && one.nextAt > clock.now());
  return row ? { reason: row.reason ?? "", until: row.nextAt } : null;
}
