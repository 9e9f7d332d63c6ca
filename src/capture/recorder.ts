import type {
  PromptEvent,
  SessionEvent,
  ToolResultEvent,
  TranscriptEvent,
  UsageEvent,
} from "../formats/agents/transcript.ts";
import { readInstant } from "../formats/values.ts";
import { isoInstant, MINUTE_MS } from "../kit/clock.ts";
import { sha256 } from "../kit/hash.ts";
import { branchNow } from "./git.ts";
import { homePathsOf, pathIn } from "./paths.ts";
import { type QuietWindow, quietWindows } from "./policy.ts";
import { goOver, otherTreeOf, repositoryByEdit, repositoryFor } from "./repository.ts";
import {
  addCommit,
  addFile,
  addPrompt,
  addToTree,
  learn,
  lookAgainFrom,
  newHead,
  type SentPrompt,
  type SessionHead,
  widen,
} from "./session-head.ts";
import { replySpan, type Span, type SpanParts, toolCallSpan, toolResultSpan, usageSpan } from "./spans.ts";
import type { Capture } from "./state.ts";
import { type CaptureMode, entryText, outgoingJson, outgoingText } from "./texts.ts";
import { isReadable, type Readable } from "./wrong-clock.ts";

/** The conditions under which one pass records. */
export interface Terms extends Readable {
  readonly mode: CaptureMode;
  /** Whether the transcripts are from another machine, for which pauses of this one do not count. */
  readonly isForeign?: boolean;
}

/** What is known of an event beside what its record says. */
export interface Circumstances {
  /** Whether the agent writes records again as they grow. */
  readonly revises?: boolean;
  /** When it happened, where the record does not say; milliseconds since the epoch. */
  readonly fallbackAt?: number;
  /** An instant at which its transcript did not hold it yet; milliseconds since the epoch. */
  readonly notBefore?: number;
  /** Whether it was written after its transcript had been read to its end: then it is new, whatever the clock said. */
  readonly isGrowth?: boolean;
  /** The session's folder, where the record does not say. */
  readonly cwd?: string | undefined;
}

/** An event that is recorded. */
type Happening = Exclude<TranscriptEvent, SessionEvent | { readonly type: "unknown" }>;

/** A session while it is written to. */
interface Draft {
  readonly id: string;
  readonly agent: string;
  repo: string;
  readonly head: SessionHead;
  /** 0 while nothing but facts is known: such a session is kept, and not sent. */
  revision: number;
  isDirty: boolean;
}

/** Length of the hashes in the table `seen`. */
export const HASH_BYTES = 16;
const MAX_COMMITS_A_RESULT = 20;
const MAX_KIND_CHARS = 100;

const factsOf = ({ branch, model, title, cwd, parentId }: SessionHead) =>
  JSON.stringify([branch, model, title, cwd, parentId]);

/**
 * Writes what transcripts say into the outbox: small entries for what can be counted, spans for what is looked at. Call `take` and
 * `flush` inside one transaction: then an event is recorded together with the place up to which its transcript was read, or not at all.
 */
export class Recorder {
  readonly #capture: Capture;
  readonly #terms: Terms;
  readonly #homePaths: readonly string[];
  readonly #drafts = new Map<string, Draft>();
  /** Read anew for each transaction: a person may pause while a pass goes on. */
  #quiet: readonly QuietWindow[] | undefined;
  /** Events that were new. */
  recorded = 0;

  constructor(capture: Capture, terms: Terms) {
    this.#capture = capture;
    this.#terms = terms;
    this.#homePaths = homePathsOf(capture.machine.home);
  }

  take(agent: string, event: TranscriptEvent, circumstances: Circumstances = {}): void {
    if (event.type === "unknown") this.#capture.rows.countUnknown.run(agent, event.kind.slice(0, MAX_KIND_CHARS));
    else if (event.type === "session") this.#takeFacts(agent, event, circumstances);
    else this.#takeHappening(agent, event, circumstances);
  }

  /**
   * Learns folder, branch and the like always, because later events need them. A title is content: it is taken only where the event may be
   * recorded.
   */
  #takeFacts(agent: string, { title, ...facts }: SessionEvent, circumstances: Circumstances): void {
    const isSaid = title !== undefined && this.#isWanted(facts.at, circumstances);
    this.#learn(this.#draftOf(agent, facts.sessionId), isSaid ? { ...facts, title } : facts);
  }

  #takeHappening(agent: string, event: Happening, circumstances: Circumstances): void {
    if (!this.#isWanted(event.at, circumstances)) return;
    const { revises = false, fallbackAt, cwd } = circumstances;
    const at = event.at ?? (fallbackAt === undefined ? undefined : isoInstant(Math.floor(fallbackAt)));
    // A fork says the same under its own session's id.
    const { sessionId, ...said } = event;
    if (!this.#isNew(`${agent}\n${event.key}\n${revises ? JSON.stringify(said) : event.type}`)) return;
    this.recorded++;
    const draft = this.#draftOf(agent, sessionId);
    draft.revision ||= 1;
    // The turn before ends with the last event before this prompt.
    if (event.type === "prompt") this.#endTurn(draft);
    if (draft.head.cwd === undefined && cwd !== undefined) this.#learn(draft, { type: "session", sessionId, cwd });
    widen(draft.head, at);
    draft.isDirty = true;
    this.#record(draft, { ...event, at });
  }

  /** Whether an event may be recorded. One without a time of its own may have happened at any instant since its transcript was last read. */
  #isWanted(at: string | undefined, { fallbackAt, notBefore, isGrowth = false }: Circumstances): boolean {
    const said = readInstant(at);
    const latest = said ?? fallbackAt ?? this.#capture.clock.now();
    const earliest = said ?? Math.min(latest, notBefore ?? latest);
    const { isForeign = false } = this.#terms;
    this.#quiet ??= isForeign ? [] : quietWindows(this.#capture);
    const quiet = this.#quiet;
    const isTimely = isGrowth || isReadable(this.#terms, latest, this.#capture.clock.now());
    return isTimely && !quiet.some((window) => latest >= window.since && earliest < window.until);
  }

  #isNew(name: string): boolean {
    const hash = sha256(name).subarray(0, HASH_BYTES);
    return this.#capture.rows.addSeen.run(hash, this.#capture.clock.now()).changes > 0;
  }

  #draftOf(agent: string, sessionId: string): Draft {
    const known = this.#drafts.get(sessionId);
    if (known) return known;
    const row = this.#capture.rows.session.get(sessionId);
    if (!row) return this.#begin(agent, sessionId);
    const { id, revision } = row;
    const head = JSON.parse(row.head) as SessionHead;
    const repo = repositoryFor(this.#capture, head, row.repo);
    const draft = { id, agent, repo, head, revision: revision && revision + 1, isDirty: repo !== row.repo };
    this.#drafts.set(id, draft);
    return draft;
  }

  #begin(agent: string, id: string): Draft {
    const draft = { id, agent, repo: "", head: newHead(), revision: 0, isDirty: true };
    this.#drafts.set(id, draft);
    return draft;
  }

  #learn(draft: Draft, facts: SessionEvent): void {
    const { head } = draft;
    const { mode } = this.#terms;
    const before = factsOf(head);
    const title = facts.title === undefined || mode === "metadata" ? undefined : outgoingText(facts.title, mode);
    if (facts.cwd !== undefined) goOver(this.#capture, head, draft.repo, facts.cwd);
    learn(head, { ...facts, title });
    draft.repo = repositoryFor(this.#capture, head, draft.repo);
    draft.isDirty ||= factsOf(head) !== before;
  }

  #record(draft: Draft, event: Happening): void {
    if (event.type === "prompt") this.#prompt(draft, event);
    else if (event.type === "reply") {
      draft.head.hasReply = true;
      draft.head.model ??= event.model;
      this.#put(draft, replySpan(event, this.#partsOf(draft, event.callId)));
    } else if (event.type === "tool-call") this.#put(draft, toolCallSpan(event, this.#partsOf(draft, event.toolId)));
    else if (event.type === "tool-result") this.#result(draft, event);
    else if (event.type === "usage") this.#usage(draft, event);
    else if (event.type === "rewind")
      this.#put(draft, {
        id: `rewind:${event.key}`,
        name: "rewind",
        kind: "event",
        startedAt: event.at,
        attributes: {},
      });
  }

  #prompt(draft: Draft, { key, at, text }: PromptEvent): void {
    const { mode } = this.#terms;
    const outgoing = mode === "metadata" ? undefined : outgoingText(text, mode);
    const said = outgoing === undefined ? { chars: text.length } : { text: outgoing };
    const id = `turn:${key}`;
    if (!this.#read(draft, id)) this.#addPrompt(draft, { at, ...said });
    draft.head.turn = id;
    this.#put(draft, { id, name: "turn", kind: "turn", startedAt: at, attributes: {} });
    const inEntry = outgoing === undefined ? said : { text: entryText(text, outgoing) };
    this.#entry(draft, at, key, { type: "prompt", id: key, ...inEntry });
  }

  #addPrompt({ id, head, revision }: Draft, prompt: SentPrompt): void {
    const number = head.prompts;
    const sent = addPrompt(head, prompt);
    if (sent) this.#capture.rows.addPrompt.run({ session: id, number, revision, body: outgoingJson(sent) });
  }

  #result(draft: Draft, event: ToolResultEvent): void {
    const { at, key } = event;
    const edits = event.edits.map(({ path, ...lines }) => ({
      path: this.#pathOf(draft, path),
      ...lines,
      at,
    }));
    this.#put(draft, toolResultSpan(event, edits, this.#partsOf(draft, event.toolId)));
    // A commit may have been seen before what the agent says of it and of its edits: an agent writes its transcript a little later.
    if (edits.length + event.commits.length > 0) lookAgainFrom(draft.head, at);
    for (const [i, edit] of edits.entries()) {
      addFile(draft.head, edit.path);
      this.#entry(draft, at, `${key}:edit:${i}`, { type: "edit", ...edit, at: undefined });
    }
    for (const sha of event.commits.slice(0, MAX_COMMITS_A_RESULT))
      if (addCommit(draft.head, { sha, at }))
        this.#entry(draft, at, `${draft.id}:commit:${sha}`, { type: "commit", sha });
  }

  /** A file's path within the repository, also where the agent went over to another of its work trees. */
  #pathOf(draft: Draft, path: string): string {
    const { head } = draft;
    draft.repo ||= repositoryByEdit(this.#capture, head, path);
    const tree = otherTreeOf(this.#capture, head, draft.repo, path);
    if (!tree) return pathIn(head, path, this.#homePaths);
    const inside = pathIn({ cwd: tree.top, root: tree.root, below: "" }, path, this.#homePaths);
    addToTree(head, tree.root, inside);
    return inside;
  }

  #usage(draft: Draft, event: UsageEvent): void {
    const { key, at, model, usage, costUsd } = event;
    draft.head.model ??= model;
    draft.head.hasReply = true;
    const { rows, clock } = this.#capture;
    if (rows.raiseCall.run(usage.id, usage.output_tokens, clock.now()).changes === 0) return;
    this.#put(draft, usageSpan(event, this.#partsOf(draft, event.callId)));
    this.#entry(draft, at, `${key}:${usage.output_tokens}`, { type: "usage", model, usage, costUsd });
  }

  #partsOf(draft: Draft, id: string): SpanParts {
    return { before: this.#read(draft, id), turn: draft.head.turn, mode: this.#terms.mode };
  }

  #read(draft: Draft, id: string): Span | undefined {
    const body = this.#capture.rows.span.get(draft.id, id);
    return body === undefined ? undefined : (JSON.parse(body) as Span);
  }

  #put({ id, revision }: Draft, span: Span): void {
    this.#capture.rows.putSpan.run({ session: id, id: span.id, revision, body: outgoingJson(span) });
  }

  /** @param name identifies the entry: under a name that was used before, nothing is written */
  #entry(draft: Draft, at: string | undefined, name: string, payload: Record<string, unknown>): void {
    if (!this.#isNew(`entry\n${draft.agent}\n${name}`)) return;
    const { id, agent, repo, head } = draft;
    const text = outgoingJson({
      ...payload,
      sessionId: id,
      agent,
      branch: head.branch,
      model: payload.model ?? head.model,
    });
    this.#capture.rows.addEntry.run(repo, this.#capture.rows.takeSeq.get(repo) as number, at ?? null, text);
  }

  /** The turn that is being worked on lasts as long as the session does. */
  #endTurn(draft: Draft): void {
    const { turn, endedAt } = draft.head;
    const span = turn === undefined ? undefined : this.#read(draft, turn);
    if (span && span.endedAt !== endedAt) this.#put(draft, { ...span, endedAt });
  }

  /** Some agents do not say on which branch they work. Within an hour of the last event the work tree tells. */
  #findBranch(head: SessionHead): void {
    if (head.branch !== undefined || !head.root || head.endedAt === undefined) return;
    if (this.#capture.clock.now() - (readInstant(head.endedAt) ?? 0) < 60 * MINUTE_MS)
      head.branch = branchNow(head.root);
  }

  /** Stores what changed of sessions since the last time. */
  flush(): void {
    const { rows, clock } = this.#capture;
    for (const draft of this.#drafts.values()) {
      if (!draft.isDirty) continue;
      this.#endTurn(draft);
      this.#findBranch(draft.head);
      const { id, agent, repo, head, revision } = draft;
      rows.putSession.run({ id, agent, repo, head: JSON.stringify(head), revision, changedAt: clock.now() });
    }
    this.#drafts.clear();
    this.#quiet = undefined;
  }
}
