import { OTLP_MARK } from "../../formats/exported.ts";
import type { Fields } from "../../formats/values.ts";
import { sha256Hex } from "../../kit/hash.ts";
import { isGeminiCli } from "./gemini-cli.ts";
import type { Happening, Span } from "./happening.ts";
import { MessageLogs } from "./message-logs.ts";
import { type Places, placeTraces } from "./place-traces.ts";
import type { Signal } from "./protobuf.ts";
import { type Found, pointsOf, readDetails, readLog, readSpan, recordsOf, type SpanRecord } from "./records.ts";
import type { Place } from "./remembered-traces.ts";
import { placeOfBoth, sameCall } from "./same-calls.ts";
import { belowTools, tellLog, tellSpan } from "./tell.ts";

/** An entry of telemetry without its number. */
export interface Unnumbered {
  /** Identifies it among all entries of its device: 32 hexadecimal digits. Made of ids, times and counts, never of text. */
  readonly key: string;
  /** In RFC 3339. */
  readonly clientTimestamp: string | null;
  readonly payload: Fields;
}

/** What a request tells, as entries and sessions. */
export interface Translated {
  readonly entries: readonly Unnumbered[];
  /** Each session as a piece, with the names that the trace ingest takes. */
  readonly sessions: readonly { readonly session: Fields; readonly spans: readonly Fields[] }[];
  /** Log records, spans or data points of the request. */
  readonly records: number;
  /** Records of which nothing is kept, because they tell nothing of sessions. */
  readonly dropped: number;
  /** Records that cannot be read, see `recordsOf`. */
  readonly rejected: number;
  /** Sessions that spans named for their traces, to be remembered: a span that sums the trace up may come later without a name. */
  readonly named: readonly Place[];
  readonly hasNamelessSum: boolean;
}

export interface Terms extends Places {
  readonly deviceId: string;
  /** Only metadata may be kept: how long a prompt was is then said beside its text, which is withheld later. */
  readonly isMetadataOnly: boolean;
}

/** Takes a request apart. @param pause awaited between records, see `kit/yield.ts` */
export async function translate(
  signal: Signal,
  request: Fields,
  terms: Terms,
  pause: () => Promise<void> | undefined,
): Promise<Translated> {
  const gathered = new Gathered(terms);
  const spans: SpanRecord[] = [];
  const messages = new MessageLogs();
  const tally = { records: 0, dropped: 0, rejected: 0 };
  for (const found of recordsOf(signal, request)) {
    const wait = pause();
    if (wait) await wait;
    const count = signal === "metrics" && found ? pointsOf(found.record) : 1;
    tally.records += count;
    const fate = found ? take(signal, found, gathered, spans, messages) : "rejected";
    if (fate) tally[fate] += count;
  }
  for (const call of messages.calls()) {
    const wait = pause();
    if (wait) await wait;
    spans.push(call);
  }
  const traces = await placeTraces(spans, terms);
  const isBelowTool = belowTools(spans);
  for (const span of spans) {
    const wait = pause();
    if (wait) await wait;
    if (gathered.add(tellSpan(span, traces, !isBelowTool(span)), span.id)) continue;
    gathered.passOver(span);
    tally.dropped++;
  }
  const { hasNamelessSum } = traces;
  return { ...tally, entries: gathered.entries, sessions: gathered.sessions(), named: traces.named(), hasNamelessSum };
}

/** Spans are gathered once all are known. @returns what becomes of a record that is not kept */
function take(
  signal: Signal,
  { origin, record }: Found,
  gathered: Gathered,
  spans: SpanRecord[],
  messages: MessageLogs,
): "dropped" | "rejected" | undefined {
  if (signal === "metrics") return "dropped";
  if (signal === "logs") {
    const log = readLog(origin, record);
    const details = isGeminiCli(log) ? undefined : readDetails(log, record);
    if (details) spans.push(details);
    return details || messages.add(log, record) || gathered.add(tellLog(log)) ? undefined : "dropped";
  }
  const span = readSpan(origin, record);
  if (!span) return "rejected";
  spans.push(gathered.withoutWords(span));
  return undefined;
}

interface Draft {
  readonly happening: { -readonly [K in keyof Happening]: Happening[K] };
  startedAt: string | undefined;
  endedAt: string | undefined;
  title: string | undefined;
  hasReply: boolean;
  /** The agent (or, without one, the call) that ended last. Of several that ended at once, one that did not fail. */
  last: Span | undefined;
  readonly prompts: Fields[];
  /** The last prompts that calls told, each with its id. */
  readonly promptKeys: Set<string>;
  readonly commits: Fields[];
  readonly spans: Map<string, Span>;
  /** See `sameCall`. */
  readonly calls: Map<string, Span>;
}

/** Spans between two that are recorded. */
const MAX_PASSED = 32;

/** What was told so far. */
class Gathered {
  readonly entries: Unnumbered[] = [];
  readonly #terms: Terms;
  readonly #drafts = new Map<string, Draft>();
  /** The id under which a span is recorded, by the span's own id. */
  readonly #ids = new Map<string, string>();
  /** The parent of a span that is not recorded, by the span's id. */
  readonly #above = new Map<string, string>();
  /** Spans without ids of their own: by session and made-up id, then by their whole text. */
  readonly #sameIds = new Map<string, Map<string, Span>>();

  constructor(terms: Terms) {
    this.#terms = terms;
  }

  /** @param spanId the span's own id, where it was told of by a span @returns false where nothing was told */
  add(happening: Happening | undefined, spanId?: string): boolean {
    if (!happening) return false;
    const draft = this.#draftOf(happening);
    const { session, at, prompt, commit, hasNoId, entry } = happening;
    const span = hasNoId && happening.span ? this.#numbered(session, happening.span) : happening.span;
    if (at !== undefined) {
      const from = span?.startedAt ?? at;
      if (draft.startedAt === undefined || from < draft.startedAt) draft.startedAt = from;
      if (draft.endedAt === undefined || at > draft.endedAt) draft.endedAt = at;
    }
    if (prompt) draft.prompts.push({ at, ...this.#said(prompt) });
    this.#addLast(draft, happening.lastPrompt?.());
    if (commit !== undefined) draft.commits.push({ sha: commit, at });
    if (span) this.#addSpan(draft, span, spanId);
    draft.hasReply ||= (span !== undefined && isReply(span)) || entry?.payload.type === "usage";
    if (entry) this.#addEntry(happening, entry);
    return true;
  }

  #addSpan(draft: Draft, one: Span, spanId: string | undefined): void {
    const { spans, calls } = draft;
    draft.last = laterOf(draft.last, one);
    const same = sameCall(calls, one);
    const span = same ? { ...one, ...placeOfBoth(spans.get(same.id) ?? same, one) } : one;
    if (spanId !== undefined) this.#ids.set(spanId, span.id);
    const before = spans.get(span.id);
    spans.set(span.id, before ? joined(before, span) : span);
  }

  /** Adds the last prompt of a call, unless the call was tried before and told it. */
  #addLast({ prompts, promptKeys }: Draft, last: ReturnType<NonNullable<Happening["lastPrompt"]>>): void {
    if (!last || promptKeys.has(`${last.id} ${last.text}`)) return;
    promptKeys.add(`${last.id} ${last.text}`);
    prompts.push(this.#said(last));
  }

  /** Gives spans with the same id different ones. A request that is sent again tells them in the same order. */
  #numbered(session: string, span: Span): Span {
    const name = JSON.stringify([session, span.id]);
    const spans = this.#sameIds.getOrInsert(name, new Map());
    const nth = spans.size + 1;
    return spans.getOrInsertComputed(JSON.stringify(span), () =>
      nth === 1 ? span : { ...span, id: `${span.id}#${nth}` },
    );
  }

  /** A span without the words of its failure, where only metadata may be kept: nobody can switch those off by themselves. */
  withoutWords(span: SpanRecord): SpanRecord {
    return this.#terms.isMetadataOnly && span.failure ? { ...span, failure: "" } : span;
  }

  /** Passes over a span that is not recorded: spans below it are recorded below its parent. */
  passOver({ id, parentId }: SpanRecord): void {
    if (parentId !== undefined) this.#above.set(id, parentId);
  }

  #parentOf(parentId: string | undefined): string | undefined {
    let above = parentId;
    for (let steps = 0; above !== undefined && steps < MAX_PASSED; steps++) {
      const id = this.#ids.get(above);
      if (id !== undefined) return id;
      above = this.#above.get(above);
    }
    return parentId;
  }

  #addEntry({ session, agent, model, branch, at }: Happening, { payload, key }: NonNullable<Happening["entry"]>): void {
    const name = JSON.stringify([this.#terms.deviceId, agent, session, payload.type, key]);
    const said = payload.type === "prompt" ? this.#said(payload) : payload;
    this.entries.push({
      key: sha256Hex(name).slice(0, 32),
      clientTimestamp: at ?? null,
      payload: { ...said, sessionId: session, agent, branch, model },
    });
  }

  #said(words: Fields): Fields {
    const { text } = words;
    return this.#terms.isMetadataOnly && typeof text === "string" ? { ...words, chars: text.length } : words;
  }

  #draftOf(happening: Happening): Draft {
    const { session, agent } = happening;
    const draft: Draft = this.#drafts.get(session) ?? {
      happening: { session, agent },
      startedAt: undefined,
      endedAt: undefined,
      title: undefined,
      hasReply: false,
      last: undefined,
      prompts: [],
      promptKeys: new Set(),
      commits: [],
      spans: new Map(),
      calls: new Map(),
    };
    this.#drafts.set(session, draft);
    const known = draft.happening;
    known.agentVersion = happening.agentVersion ?? known.agentVersion;
    known.model ??= happening.model;
    known.branch = happening.branch ?? known.branch;
    known.userEmail ??= happening.userEmail;
    if (!this.#terms.isMetadataOnly) draft.title ??= happening.askedFirst?.();
    return draft;
  }

  /** The sessions that were told of. */
  sessions(): Translated["sessions"] {
    return [...this.#drafts.values()].map((draft) => ({
      session: this.#sessionOf(draft),
      spans: [...draft.spans.values()].map((span) => ({
        ...span,
        parentId: this.#parentOf(span.parentId),
        ...OTLP_MARK,
      })),
    }));
  }

  #sessionOf({ happening, startedAt, endedAt, title, hasReply, last, prompts, commits }: Draft): Fields {
    const ended = last && last.endedAt === endedAt && hasFailed(last) ? "failed" : hasReply ? "completed" : "abandoned";
    return {
      id: happening.session,
      agent: happening.agent,
      agentVersion: happening.agentVersion,
      model: happening.model,
      branch: happening.branch,
      userEmail: this.#terms.isMetadataOnly ? undefined : happening.userEmail,
      title,
      startedAt,
      endedAt,
      outcome: commits.length > 0 ? "committed" : ended,
      prompts: prompts.length > 0 ? prompts : undefined,
      commits: commits.length > 0 ? commits : undefined,
    };
  }
}

const hasFailed = ({ attributes }: Span): boolean => attributes["error.type"] !== undefined;

const isReply = (span: Span): boolean => span.kind !== "tool" && !hasFailed(span);

function laterOf(last: Span | undefined, span: Span): Span | undefined {
  const isWhole = span.kind === "agent" || (span.kind === "llm" && span.parentId === undefined);
  const [before, now] = [last?.endedAt ?? "", span.endedAt ?? ""];
  return isWhole && (now > before || (now === before && !hasFailed(span))) ? span : last;
}

/** Joins two tellings of one span. */
function joined(before: Span, after: Span): Span {
  const said = (span: Span) =>
    Object.fromEntries(Object.entries(span).filter(([, value]) => value !== undefined)) as unknown as Span;
  const usage = before.usage && after.usage ? { ...before.usage, ...after.usage } : (after.usage ?? before.usage);
  const attributes = { ...before.attributes, ...after.attributes };
  return { ...said(before), ...said(after), usage, attributes };
}
