import * as v from "valibot";
import { openObject } from "../../platform/http/fields.ts";
import { preparation, type Tools } from "../../platform/http/preparation.ts";
import type { Made } from "../../platform/workers/workers.ts";
import type { CaptureMode } from "../policy/policy.ts";
import { Cleaner, digestOfSent, type SentDigest } from "../sent-body/sent-body.ts";
import { decodeRequest, type Signal } from "./protobuf.ts";
import type { Place } from "./remembered-traces.ts";
import { type Translated, translate } from "./translate.ts";

/** In JSON of Protocol Buffers null is what is absent. */
const Resources = v.nullish(v.array(v.unknown()));
/** Requests as OTLP/JSON writes them; what lies within is read leniently, as the protocol demands. */
export const REQUESTS = {
  logs: openObject({ resourceLogs: Resources }),
  traces: openObject({ resourceSpans: Resources }),
  metrics: openObject({ resourceMetrics: Resources }),
} as const;

/** What reading a request needs to know of where it came. */
export interface RequestGiven {
  readonly captureMode: CaptureMode;
  readonly deviceId: string;
  /** Whether the tier includes sessions. */
  readonly hasSessions: boolean;
  /** See `Places`. */
  readonly tellsNamelessSums: boolean;
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
export interface ReadyRequest<S> extends Omit<Translated, "entries" | "sessions"> {
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
}

/** What makes sessions ready to be stored: their room hands it over. */
interface Sessions<S> {
  read(
    pieces: Translated["sessions"],
    captureMode: CaptureMode,
    sent: SentDigest,
    yieldNow: Tools["yieldNow"],
  ): Promise<S>;
  pack(result: S): Made;
  unpack(made: never): S;
}

/** Makes requests of one signal ready. */
export const readOtlp = <S>(signal: Signal, sessions: Sessions<S>) =>
  preparation({
    name: `otlp.${signal}`,
    schema: REQUESTS[signal] as v.GenericSchema<unknown, object>,
    readBinary: (bytes: Buffer, pause) => decodeRequest(signal, bytes, pause),
    run: (body, _text, given: RequestGiven, tools) => readRequest(signal, sessions, body, given, tools),
    pack(request) {
      if (!request.sessions) return { made: request };
      const { made, transfer = [] } = sessions.pack(request.sessions);
      return { made: { ...request, sessions: made }, transfer };
    },
    unpack: (request: ReadyRequest<S>): ReadyRequest<S> => ({
      ...request,
      sessions: request.sessions && sessions.unpack(request.sessions as never),
    }),
  });

async function readRequest<S>(
  signal: Signal,
  sessions: Sessions<S>,
  body: object,
  { captureMode, deviceId, hasSessions, tellsNamelessSums }: RequestGiven,
  { sent: bytes, yieldNow, ask }: Tools,
): Promise<ReadyRequest<S>> {
  const isMetadataOnly = captureMode === "metadata";
  const placesOf = async (traceIds: readonly string[]) => (await ask(traceIds)) as readonly Place[];
  const terms = { deviceId, isMetadataOnly, tellsNamelessSums, placesOf };
  const translated = await translate(signal, body as Record<string, unknown>, terms, yieldNow);
  const { records, dropped, rejected, named, hasNamelessSum } = translated;
  const sent = digestOfSent(bytes);
  const known = { captureMode, sent, records, dropped, rejected, named, hasNamelessSum };
  if (captureMode === "off")
    return { ...known, entries: [], sessions: undefined, redacted: 0, withheld: records - dropped - rejected };
  const { entries, redacted, withheld } = await cleanEntries(translated.entries, captureMode, yieldNow);
  const ready =
    hasSessions && translated.sessions.length > 0
      ? await sessions.read(translated.sessions, captureMode, sent, yieldNow)
      : undefined;
  return { ...known, entries, sessions: ready, redacted, withheld };
}

/** Entries as they may be kept: what the capture mode lets stay of them, free of secrets. */
async function cleanEntries(happened: Translated["entries"], captureMode: CaptureMode, yieldNow: Tools["yieldNow"]) {
  const cleaner = new Cleaner(yieldNow, captureMode);
  const texts: string[] = [];
  for (const { payload } of happened) {
    const wait = yieldNow();
    if (wait) await wait;
    texts.push(JSON.stringify(payload));
  }
  const kept = await cleaner.cleanAll(texts, "payload");
  const entries = happened.map(
    ({ key, clientTimestamp }, i): ReadyEntry => ({ key, clientTimestamp, payload: kept[i] as string }),
  );
  return { entries, redacted: cleaner.redacted, withheld: cleaner.withheld };
}
