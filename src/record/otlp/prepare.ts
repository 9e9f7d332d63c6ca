import * as v from "valibot";
import { elements, findMember, members } from "../../kit/json.ts";
import { openObject } from "../../platform/http/fields.ts";
import { preparation, type Tools } from "../../platform/http/preparation.ts";
import type { Made } from "../../platform/workers/workers.ts";
import type { CaptureMode } from "../policy/policy.ts";
import { digestOfSent, SentBody, type SentDigest } from "../sent-body/sent-body.ts";
import { decodeRequest, type Signal } from "./protobuf.ts";
import { translate } from "./translate.ts";

/** Requests as OTLP/JSON writes them; what lies within is read leniently, as the protocol demands. */
export const REQUESTS = {
  logs: openObject({ resourceLogs: v.optional(v.array(v.unknown())) }),
  traces: openObject({ resourceSpans: v.optional(v.array(v.unknown())) }),
  metrics: openObject({ resourceMetrics: v.optional(v.array(v.unknown())) }),
} as const;

/** What reading a request needs to know of where it came. */
export interface RequestGiven {
  readonly captureMode: CaptureMode;
  readonly deviceId: string;
  /** Whether the tier includes sessions. */
  readonly hasSessions: boolean;
}

/** An entry ready to be stored, but for its number. */
export interface ReadyEntry {
  /** See `Unnumbered`. */
  readonly key: string;
  readonly clientTimestamp: string | null;
  /** JSON text, redacted. */
  readonly payload: string;
}

/** A request ready to be stored. @typeParam S what the room of the sessions makes of them */
export interface ReadyRequest<S> {
  readonly captureMode: CaptureMode;
  /** Of the body. */
  readonly sent: SentDigest;
  /** None where nothing may be kept. */
  readonly entries: readonly ReadyEntry[];
  /** Undefined where there are none. */
  readonly sessions: S | undefined;
  /** Entries in which a secret was replaced. */
  readonly redacted: number;
  /** Entries of which text was left out, because only metadata may be kept; all of them where nothing may. */
  readonly withheld: number;
  readonly records: number;
  readonly dropped: number;
  readonly rejected: number;
}

/** What prepares a batch of sessions, as the trace ingest takes it: its room hands it over. */
interface Sessions<S> {
  run(body: never, text: string, given: never, tools: Tools): Promise<S>;
  pack?(result: S): Made;
  unpack?(made: never): S;
}

/** Makes requests of one signal ready. */
export const readOtlp = <S>(signal: Signal, sessions: Sessions<S>) =>
  preparation({
    name: `otlp.${signal}`,
    schema: REQUESTS[signal] as v.GenericSchema<unknown, object>,
    readBinary: (bytes: Buffer, pause) => decodeRequest(signal, bytes, pause),
    run: (body, text, given: RequestGiven, tools) => readRequest(signal, sessions, body, text, given, tools),
    pack(request) {
      if (!request.sessions || !sessions.pack) return { made: request };
      const { made, transfer = [] } = sessions.pack(request.sessions);
      return { made: { ...request, sessions: made }, transfer };
    },
    unpack: (request: ReadyRequest<S>): ReadyRequest<S> => ({
      ...request,
      sessions: request.sessions && sessions.unpack ? sessions.unpack(request.sessions as never) : request.sessions,
    }),
  });

async function readRequest<S>(
  signal: Signal,
  sessions: Sessions<S>,
  body: object,
  text: string,
  given: RequestGiven,
  tools: Tools,
): Promise<ReadyRequest<S>> {
  const { captureMode, deviceId, hasSessions } = given;
  const isMetadataOnly = captureMode === "metadata";
  const happening = await translate(
    signal,
    body as Record<string, unknown>,
    { deviceId, isMetadataOnly },
    tools.yieldNow,
  );
  const { records, dropped, rejected } = happening;
  const known = { captureMode, sent: digestOfSent(text, tools.encoding), records, dropped, rejected };
  if (captureMode === "off")
    return { ...known, entries: [], sessions: undefined, redacted: 0, withheld: records - dropped - rejected };
  const { entries, redacted, withheld } = await cleanEntries(happening.entries, captureMode, tools);
  const batch = { sessions: happening.sessions };
  const most = { maxSessions: Infinity, maxSpans: Infinity, maxLabels: 0 };
  const ready =
    hasSessions && happening.sessions.length > 0
      ? await sessions.run(batch as never, JSON.stringify(batch), { captureMode, ...most } as never, tools)
      : undefined;
  return { ...known, entries, sessions: ready, redacted, withheld };
}

/** Entries as they may be kept: what the capture mode lets stay of them, free of secrets. */
async function cleanEntries(
  happening: Awaited<ReturnType<typeof translate>>["entries"],
  captureMode: CaptureMode,
  { yieldNow }: Tools,
) {
  const text = JSON.stringify({ entries: happening.map(({ payload }) => payload) });
  const sent = await SentBody.open(text, yieldNow, captureMode);
  const slices = elements(text, findMember(members(text), "entries")?.start);
  const entries: ReadyEntry[] = [];
  for (const [i, { key, clientTimestamp }] of happening.entries()) {
    const slice = slices[i];
    if (!slice) continue;
    const payload = text.slice(slice.start, slice.end);
    entries.push({ key, clientTimestamp, payload: sent.isKeptAsSent ? payload : await sent.clean(payload, "payload") });
  }
  return { entries, redacted: sent.redacted, withheld: sent.withheld };
}
