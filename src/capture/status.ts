import { rejectionOf } from "./exchange.ts";
import { knownPolicy, quietNow } from "./policy.ts";
import { type Capture, readCredentials, readSetting } from "./state.ts";
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
  readonly rejected: number;
  readonly unknown: readonly { readonly agent: string; readonly kind: string; readonly count: number }[];
  /** Transcripts that the last pass could not read. */
  readonly unreadable: readonly { readonly path: string; readonly reason: string }[];
  readonly lastPass: number | null;
  readonly lastContact: number | null;
  /** Why the server is not asked now, and until when. */
  readonly trouble: { readonly reason: string; readonly until: number | null } | null;
}

export function readStatus(capture: Capture): Status {
  const { rows, clock } = capture;
  const credentials = readCredentials(capture.places);
  const policy = knownPolicy(capture);
  const rejection = rejectionOf(capture);
  const server = rows.schedule.get("server");
  const waits = server && server.nextAt > clock.now() ? { reason: server.reason ?? "", until: server.nextAt } : null;
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
    rejected: rows.countRejected.get() ?? 0,
    unknown: rows.unknown.all(),
    unreadable: readSetting(capture, "unreadable") ?? [],
    lastPass: readSetting<number>(capture, "lastPass") ?? null,
    lastContact: readSetting<number>(capture, "lastContact") ?? null,
    trouble: rejection ? { reason: rejection.reason, until: null } : waits,
  };
}
