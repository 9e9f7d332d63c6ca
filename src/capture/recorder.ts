import { isAbsolute, join, relative, resolve, sep } from "node:path";
import type {
  Edit,
  PromptEvent,
  ReplyEvent,
  SessionEvent,
  ToolCallEvent,
  ToolResultEvent,
  TranscriptEvent,
  UsageEvent,
} from "../formats/agents/transcript.ts";
import { readInstant } from "../formats/values.ts";
import { isoInstant } from "../kit/clock.ts";
import { sha256 } from "../kit/hash.ts";
import { repositoryOf } from "./repository.ts";
import { addCommit, addFile, addPrompt, learn, newHead, type SessionHead, widen } from "./session-head.ts";
import type { Capture } from "./state.ts";
import { type CaptureMode, outgoingJson, outgoingText } from "./texts.ts";

/** What rules over what is recorded, for one pass. */
export interface Terms {
  readonly mode: CaptureMode;
  /** Milliseconds since the epoch: what happened before is not recorded. */
  readonly since: number;
  /** When nothing was to be recorded; open ones end at infinity. */
  readonly quiet: readonly { readonly since: number; readonly until: number }[];
}

/** A session while it is written to. */
interface Draft {
  readonly id: string;
  readonly agent: string;
  repo: string;
  readonly head: SessionHead;
  revision: number;
  isDirty: boolean;
}

/** What is known of an event beside what its record says. */
export interface Circumstances {
  /** Whether the agent writes records again as they grow. */
  readonly revises?: boolean;
  /** When it happened, where the record does not say; milliseconds since the epoch. */
  readonly fallbackAt?: number;
  /** The session's folder, where the record does not say. */
  readonly cwd?: string | undefined;
}

interface Span {
  readonly id: string;
  readonly parentId?: string | undefined;
  readonly name: string;
  readonly kind: string;
  readonly startedAt?: string | undefined;
  readonly endedAt?: string | undefined;
  readonly usage?: unknown;
  readonly costUsd?: number | undefined;
  readonly edits?: readonly unknown[];
  readonly attributes: Readonly<Record<string, unknown>>;
}

const HASH_BYTES = 16;
/** Commands and contents are the model's words: as long as its answers, at most. */
const MAX_COMMIT_SHAS = 20;

/**
 * Writes what transcripts say into the outbox: small entries for what can be counted, spans for what is looked at. Call `take` and
 * `flush` inside one transaction: then an event is recorded together with the place up to which its transcript was read, or not at all.
 */
export class Recorder {
  readonly #capture: Capture;
  readonly #terms: Terms;
  readonly #drafts = new Map<string, Draft>();
  /** Events that were new. */
  recorded = 0;

  constructor(capture: Capture, terms: Terms) {
    this.#capture = capture;
    this.#terms = terms;
  }

  take(agent: string, event: TranscriptEvent, { revises = false, fallbackAt, cwd }: Circumstances = {}): void {
    if (event.type === "unknown") {
      this.#capture.rows.countUnknown.run(agent, event.kind.slice(0, 100));
      return;
    }
    const at = event.at ?? (fallbackAt === undefined ? undefined : isoInstant(fallbackAt));
    if (event.type === "session") {
      const draft = this.#draftOf(agent, event.sessionId, false);
      if (draft) this.#learn(draft, event);
      else this.#pending.set(this.#idOf(agent, event.sessionId), mergeFacts(this.#pending.get(this.#idOf(agent, event.sessionId)), event));
      return;
    }
    if (!this.#isWanted(at)) return;
    const { sessionId: _, ...said } = event;
    if (!this.#isNew(`${agent}\n${event.key}\n${revises ? JSON.stringify(said) : event.type}`)) return;
    this.recorded++;
    const draft = this.#draftOf(agent, event.sessionId, true) as Draft;
    // The turn before ended with what came before this prompt.
    if (event.type === "prompt") this.#endTurn(draft);
    if (draft.head.cwd === undefined && cwd !== undefined) this.#learn(draft, { type: "session", sessionId: draft.id, cwd });
    widen(draft.head, at);
    draft.isDirty = true;
    this.#record(draft, { ...event, at });
  }

  /** Facts of sessions of which nothing was recorded yet. */
  readonly #pending = new Map<string, SessionEvent>();

  #idOf = (agent: string, sessionId: string) => `${agent}\n${sessionId}`;

  #isWanted(at: string | undefined): boolean {
    const instant = readInstant(at) ?? this.#capture.clock.now();
    const { since, quiet } = this.#terms;
    return instant >= since && !quiet.some((window) => instant >= window.since && instant < window.until);
  }

  #isNew(name: string): boolean {
    const hash = sha256(name).subarray(0, HASH_BYTES);
    return this.#capture.rows.addSeen.run(hash, this.#capture.clock.now()).changes > 0;
  }

  #draftOf(agent: string, sessionId: string, create: boolean): Draft | undefined {
    const known = this.#drafts.get(this.#idOf(agent, sessionId));
    if (known) return known;
    const row = this.#capture.rows.session.get(sessionId);
    if (!row && !create) return undefined;
    const draft: Draft = row
      ? { id: row.id, agent: row.agent, repo: row.repo, head: JSON.parse(row.head), revision: row.revision, isDirty: false }
      : { id: sessionId, agent, repo: "", head: newHead(), revision: 0, isDirty: true };
    draft.revision++;
    this.#drafts.set(this.#idOf(agent, sessionId), draft);
    const facts = this.#pending.get(this.#idOf(agent, sessionId));
    if (facts) this.#learn(draft, facts);
    return draft;
  }

  #learn(draft: Draft, facts: SessionEvent): void {
    const before = JSON.stringify([draft.head.branch, draft.head.model, draft.head.title, draft.head.cwd]);
    const title = facts.title === undefined || this.#terms.mode === "metadata" ? undefined : outgoingText(facts.title, this.#terms.mode);
    learn(draft.head, { ...facts, title });
    const { head } = draft;
    if (head.cwd !== undefined && draft.repo === "") {
      const { root, below, repo } = repositoryOf(this.#capture, head.cwd);
      head.root = root;
      head.below = below;
      draft.repo = repo;
    }
    if (JSON.stringify([head.branch, head.model, head.title, head.cwd]) !== before) draft.isDirty = true;
  }

  #record(draft: Draft, event: Exclude<TranscriptEvent, SessionEvent | { type: "unknown" }>): void {
    switch (event.type) {
      case "prompt":
        return this.#prompt(draft, event);
      case "reply":
        return this.#reply(draft, event);
      case "tool-call":
        return this.#call(draft, event);
      case "tool-result":
        return this.#result(draft, event);
      case "usage":
        return this.#usage(draft, event);
      case "rewind":
        return this.#put(draft, { id: `rewind:${event.key}`, name: "rewind", kind: "event", startedAt: event.at, attributes: {} });
      case "end":
        return;
    }
  }

  #prompt(draft: Draft, { key, at, text }: PromptEvent): void {
    const { mode } = this.#terms;
    const said = mode === "metadata" ? { chars: text.length } : { text: outgoingText(text, mode) };
    const id = `turn:${key}`;
    if (!this.#read(draft, id)) addPrompt(draft.head, { at, ...said });
    draft.head.turn = id;
    this.#put(draft, { id, name: "turn", kind: "turn", startedAt: at, attributes: {} });
    this.#entry(draft, at, key, { type: "prompt", id: key, ...said });
  }

  #reply(draft: Draft, { callId, at, model, text }: ReplyEvent): void {
    const { mode } = this.#terms;
    draft.head.hasReply = true;
    draft.head.model ??= model;
    const before = this.#read(draft, callId);
    const earlier = before?.attributes.output;
    const whole = mode === "metadata" ? undefined : outgoingText(typeof earlier === "string" ? `${earlier}\n${text}` : text, mode);
    this.#put(draft, this.#modelCall(draft, callId, at, model, before, whole === undefined ? {} : { output: whole }));
  }

  #modelCall(draft: Draft, id: string, at: string | undefined, model: string | undefined, before: Span | undefined, more: Record<string, unknown>): Span {
    const named = model ?? (before?.attributes["gen_ai.request.model"] as string | undefined);
    return {
      ...before,
      id,
      parentId: before?.parentId ?? draft.head.turn,
      name: named === undefined ? "chat" : `chat ${named}`,
      kind: "llm",
      startedAt: before?.startedAt ?? at,
      endedAt: at ?? before?.endedAt,
      attributes: {
        ...before?.attributes,
        "gen_ai.operation.name": "chat",
        ...(named === undefined ? {} : { "gen_ai.request.model": named }),
        ...more,
      },
    };
  }

  #call(draft: Draft, { callId, toolId, at, name, input }: ToolCallEvent): void {
    const { mode } = this.#terms;
    const before = this.#read(draft, toolId);
    const text = typeof input === "string" ? input : (JSON.stringify(input) ?? "");
    this.#put(draft, {
      ...before,
      id: toolId,
      parentId: callId ?? draft.head.turn,
      name: `execute_tool ${name}`,
      kind: "tool",
      startedAt: at ?? before?.startedAt,
      attributes: {
        ...before?.attributes,
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": name,
        "gen_ai.tool.call.id": toolId,
        ...(mode === "metadata" ? {} : { "gen_ai.tool.call.arguments": outgoingText(text, mode) }),
      },
    });
  }

  #result(draft: Draft, event: ToolResultEvent): void {
    const { toolId, at, output, isError, exitCode, key } = event;
    const { mode } = this.#terms;
    const before = this.#read(draft, toolId);
    const commits = event.commits.slice(0, MAX_COMMIT_SHAS);
    const edits = event.edits.map((edit) => this.#edit(draft, edit, at));
    this.#put(draft, {
      parentId: draft.head.turn,
      name: "execute_tool",
      kind: "tool",
      ...before,
      id: toolId,
      endedAt: at,
      ...(edits.length > 0 ? { edits } : {}),
      attributes: {
        ...before?.attributes,
        "gen_ai.operation.name": "execute_tool",
        ...(output === undefined || mode === "metadata" ? {} : { "gen_ai.tool.call.result": outgoingText(output, mode) }),
        ...(exitCode === undefined ? {} : { "process.exit.code": exitCode }),
        ...(isError ? { "error.type": "tool_error" } : {}),
      },
    });
    for (const [i, edit] of edits.entries()) {
      addFile(draft.head, edit.path);
      this.#entry(draft, at, `${key}:edit:${i}`, { type: "edit", ...edit, at: undefined });
    }
    for (const sha of commits) this.#commit(draft, sha, at);
  }

  #edit(draft: Draft, { path, ...lines }: Edit, at: string | undefined) {
    return { path: pathIn(draft.head, path, this.#capture.machine.home), ...lines, at };
  }

  #commit(draft: Draft, sha: string, at: string | undefined): void {
    if (addCommit(draft.head, { sha, at })) this.#entry(draft, at, `${draft.id}:commit:${sha}`, { type: "commit", sha });
  }

  #usage(draft: Draft, { callId, at, model, usage, costUsd, key }: UsageEvent): void {
    draft.head.model ??= model;
    draft.head.hasReply = true;
    const { rows, clock } = this.#capture;
    if (rows.raiseCall.run(usage.id, usage.output_tokens, clock.now()).changes === 0) return;
    const before = this.#read(draft, callId);
    this.#put(draft, { ...this.#modelCall(draft, callId, at, model, before, {}), usage, costUsd });
    this.#entry(draft, at, `${key}:${usage.output_tokens}`, { type: "usage", model, usage, costUsd });
  }

  #read(draft: Draft, id: string): Span | undefined {
    const body = this.#capture.rows.span.get(draft.id, id);
    return body === undefined ? undefined : (JSON.parse(body) as Span);
  }

  #put(draft: Draft, span: Span): void {
    this.#capture.rows.putSpan.run({ session: draft.id, id: span.id, revision: draft.revision, body: outgoingJson(span) });
  }

  /** @param name tells the entry from every other; one that was written is not written again */
  #entry(draft: Draft, at: string | undefined, name: string, payload: Record<string, unknown>): void {
    if (!this.#isNew(`entry\n${draft.agent}\n${name}`)) return;
    const { id, agent, repo, head } = draft;
    const text = outgoingJson({ ...payload, sessionId: id, agent, branch: head.branch, model: payload.model ?? head.model });
    this.#capture.rows.addEntry.run(repo, this.#capture.rows.takeSeq.get(repo) as number, at ?? null, text);
  }

  /** The turn that is being worked on lasts as long as the session does. */
  #endTurn(draft: Draft): void {
    const { turn, endedAt } = draft.head;
    const span = turn === undefined ? undefined : this.#read(draft, turn);
    if (span && span.endedAt !== endedAt) this.#put(draft, { ...span, endedAt });
  }

  /** Stores what changed of sessions since the last time. */
  flush(): void {
    const { rows, clock } = this.#capture;
    for (const [key, draft] of this.#drafts) {
      if (draft.isDirty) this.#endTurn(draft);
      const { id, agent, repo, head, revision } = draft;
      if (draft.isDirty) rows.putSession.run({ id, agent, repo, head: JSON.stringify(head), revision, changedAt: clock.now() });
      this.#drafts.delete(key);
    }
  }
}

function mergeFacts(before: SessionEvent | undefined, { type, sessionId, at, ...facts }: SessionEvent): SessionEvent {
  const known = Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined));
  return { ...before, ...known, type, sessionId, at };
}

/** A path as the repository knows it; outside of it without the person's home folder. */
function pathIn({ cwd, root, below }: SessionHead, path: string, home: string): string {
  const absolute = isAbsolute(path) ? path : cwd === undefined ? undefined : resolve(cwd, path);
  if (absolute === undefined) return path;
  // By the folder as the agent names it, which may be reached through links, else by the work tree's own name.
  const own = cwd === undefined ? undefined : within(cwd, absolute);
  const inside = own === undefined ? (root ? within(root, absolute) : undefined) : posix(join(below ?? "", own));
  if (inside !== undefined) return inside;
  return absolute.startsWith(`${home}${sep}`) ? `~${posix(absolute.slice(home.length))}` : absolute;
}

const posix = (path: string) => path.split(sep).join("/");

/** @returns undefined where a path does not lie below a folder */
function within(folder: string, path: string): string | undefined {
  const inside = relative(folder, path);
  return inside === "" || inside === ".." || inside.startsWith(`..${sep}`) || isAbsolute(inside) ? undefined : posix(inside);
}
