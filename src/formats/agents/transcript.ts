/**
 * The events that the transcripts of all agents are read into, record by record. How an agent writes its transcript is the business of its
 * format.
 *
 * A transcript grows while it is read, is copied when a session is forked, and is read again when its file was replaced. So every event
 * names itself: `key` is the same wherever the record stands, and an event that is read again has the key that it had.
 */

/** What every event says. */
interface Common {
  /**
   * Names the event among all of its agent: the record's own id where it has one (a fork copies it with the record), else the
   * session's id and the record's place.
   */
  readonly key: string;
  /** The agent's id of the session whose record it is. */
  readonly sessionId: string;
  /** When it happened (ISO 8601); absent where the record does not say. */
  readonly at?: string | undefined;
}

/** Facts of a session; each replaces what was said before. */
export interface SessionEvent extends Omit<Common, "key"> {
  readonly type: "session";
  /** The folder that the agent works in, absolute. */
  readonly cwd?: string | undefined;
  readonly branch?: string | undefined;
  /** The commit that the work began on. */
  readonly head?: string | undefined;
  readonly model?: string | undefined;
  readonly agentVersion?: string | undefined;
  /** The session that it was forked from, or whose sub-agent it is. */
  readonly parentId?: string | undefined;
  readonly title?: string | undefined;
}

/** What a person asked. */
export interface PromptEvent extends Common {
  readonly type: "prompt";
  readonly text: string;
}

/** Text that a model call answered, without what it thought. */
export interface ReplyEvent extends Common {
  readonly type: "reply";
  /** The model call; one may make several replies and calls. */
  readonly callId: string;
  readonly model?: string | undefined;
  readonly text: string;
}

/** A tool that a model call used. */
export interface ToolCallEvent extends Common {
  readonly type: "tool-call";
  readonly callId?: string | undefined;
  /** Names the use of the tool; its result has the same. */
  readonly toolId: string;
  readonly name: string;
  /** As the model wrote it: an object of its parameters, or a text. */
  readonly input: unknown;
}

/** Lines of a file that an edit wrote, 1-based and inclusive, as numbered after the edit; absent when the place is not known. */
export interface Edit {
  /** As written: absolute, or relative to the session's folder. */
  readonly path: string;
  readonly startLine?: number | undefined;
  /** One less than the start where lines were only removed. */
  readonly endLine?: number | undefined;
  /** How many lines it put there and took away, so that those below can be followed. */
  readonly added?: number | undefined;
  readonly removed?: number | undefined;
}

/** The result of a tool. One use may have several: some agents report its output and the files that it changed separately. */
export interface ToolResultEvent extends Common {
  readonly type: "tool-result";
  readonly toolId: string;
  readonly output?: string | undefined;
  readonly isError?: boolean | undefined;
  readonly exitCode?: number | undefined;
  readonly edits: readonly Edit[];
  /** Commits that it reports to have made, 7 to 40 hexadecimal digits. */
  readonly commits: readonly string[];
}

/** Tokens of one model call. Agents often report a call several times: the report with the largest output is the complete one. */
export interface UsageEvent extends Common {
  readonly type: "usage";
  readonly callId: string;
  readonly model?: string | undefined;
  readonly usage: Usage;
  /** In dollars, where the agent knows it. */
  readonly costUsd?: number | undefined;
}

/** As the service counts them: the input is without what was read from or written to a cache. */
export interface Tokens {
  readonly input_tokens: number;
  readonly output_tokens: number;
  /** All that was written to a cache. */
  readonly cache_creation_input_tokens: number;
  readonly cache_read_input_tokens: number;
}

export interface Usage extends Tokens {
  /** The provider's id of the message, or another name of the call that a fork keeps and no other call has. */
  readonly id: string;
  readonly requestId?: string | undefined;
  /** What was written to a cache for five minutes and for an hour, where the provider prices these apart. */
  readonly cache_creation?: {
    readonly ephemeral_5m_input_tokens: number;
    readonly ephemeral_1h_input_tokens: number;
  };
}

/** The session goes on from an earlier event; what came after that was taken back by the person. */
interface RewindEvent extends Common {
  readonly type: "rewind";
  /** The key of the prompt that was taken back first, with all behind it; absent where the record does not say. */
  readonly from?: string | undefined;
}

/** The session has ended, as far as its agent says so. */
interface EndEvent extends Common {
  readonly type: "end";
}

/** A record whose kind no reader knows: counted, so that a new version of an agent is noticed. */
interface UnknownEvent {
  readonly type: "unknown";
  /** The kind as written, or `unreadable`. */
  readonly kind: string;
}

export type TranscriptEvent =
  | SessionEvent
  | PromptEvent
  | ReplyEvent
  | ToolCallEvent
  | ToolResultEvent
  | UsageEvent
  | RewindEvent
  | EndEvent
  | UnknownEvent;

/** Reads the records of one transcript in their order. */
export interface TranscriptReader {
  /**
   * Reads one record: a line of a file, or a row as JSON. A known record that nobody needs gives no event. Never throws: a record that
   * cannot be read is an unknown one.
   */
  read(record: string): readonly TranscriptEvent[];
  /** The state that is needed to go on after this record: plain JSON of a few KB. */
  carry(): unknown;
}

/** Where in a store a transcript was found. */
interface TranscriptPlace {
  /** The file's path below the agent's store, with `/` between folders; `""` where it is no file. */
  readonly path: string;
}

/** How one agent writes down its sessions. */
export interface AgentFormat {
  /** The name that its sessions and entries carry. */
  readonly agent: string;
  /** Whether it writes a record again as it grows: an event may then come again under its key and say more. */
  readonly revises?: boolean;
  /** @param carry what an earlier reader of the same transcript remembered; undefined at its beginning */
  open(place: TranscriptPlace, carry?: unknown): TranscriptReader;
  /** Whether a record is of no use, judged by its first bytes alone: spares parsing long ones. */
  skips?(head: string): boolean;
  /** The records of a transcript that is one document instead of lines; undefined when this one is not. */
  recordsOf?(document: string): readonly string[] | undefined;
}
