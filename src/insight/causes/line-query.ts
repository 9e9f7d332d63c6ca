import type { Confidence } from "./judge.ts";

/** Which line is asked for. */
export interface LineQuery {
  readonly repoKey?: string | undefined;
  readonly path: string;
  /** 1-based, as the file stands now, or at the commit. */
  readonly line: number;
  /** 7 to 64 hexadecimal digits: only edits at or before it. */
  readonly commit?: string | undefined;
}

/** An edit that a line comes from. */
export interface PromptMatch {
  /** The number under which the session is kept; null where only a note names it. */
  readonly sessionNumber: number | null;
  readonly sessionId: string;
  readonly spanId: string;
  /** The session's last prompt at or before the edit. */
  readonly prompt: string | null;
  readonly commit: string | null;
  /** Milliseconds since the epoch. */
  readonly at: number | null;
  readonly band: Confidence;
}
