/** What the transcripts of all agents are read into; how they are written is each format's business. */

/** Tokens of one model call, named as the service understands them: input counts what was neither read from nor written to a cache. */
export interface Tokens {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cache_creation_input_tokens: number;
  readonly cache_read_input_tokens: number;
}

/** Tokens with the provider's id of the message they were billed for; agents repeat it with every block of the message. */
export interface Usage extends Tokens {
  readonly id: string;
}

/** Lines of a file after an edit, 1-based and inclusive. */
export interface Edit {
  readonly path: string;
  readonly startLine: number;
  readonly endLine: number;
}

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  /** The command line, of tools that run one. */
  readonly command?: string | undefined;
}

/** What came back from a tool. */
export interface ToolResult {
  readonly id: string;
  readonly edits: readonly Edit[];
  /** Commits it reports to have made. */
  readonly commits: readonly string[];
}

/** `note` is all that an agent writes down beside the conversation, `unknown` what is no record of it at all. */
export type StepType = "prompt" | "reply" | "tool" | "edit" | "commit" | "result" | "usage" | "note" | "unknown";

/** One record of a transcript. */
export interface Step {
  readonly id: string;
  readonly type: StepType;
  /** The record as it stands in its file. */
  readonly record: string;
  readonly at?: string | undefined;
  readonly model?: string | undefined;
  readonly branch?: string | undefined;
  /** The prompt's text. */
  readonly text?: string | undefined;
  /** The model call that made the record; one call may make several. */
  readonly callId?: string | undefined;
  readonly usage?: Usage | undefined;
  readonly tools: readonly ToolCall[];
  readonly results: readonly ToolResult[];
}

/** How one agent writes down its sessions. */
export interface AgentFormat {
  /** The name that its sessions and entries carry. */
  readonly agent: string;
  readonly read: (text: string) => Transcript;
}

export interface Transcript {
  readonly agent: string;
  readonly sessionId: string;
  readonly steps: readonly Step[];
}

const EDITING = /^(?:Edit|MultiEdit|Write|NotebookEdit|apply_patch|write_file|replace|edit)$/;
const COMMITTING = /\bgit\b[^|;&]*\bcommit\b/;

/** What a record that uses tools is: the most telling of its calls. */
export function toolType(tools: readonly ToolCall[]): "tool" | "edit" | "commit" | undefined {
  if (tools.length === 0) return undefined;
  if (tools.some((tool) => EDITING.test(tool.name))) return "edit";
  return tools.some((tool) => COMMITTING.test(tool.command ?? "")) ? "commit" : "tool";
}

/** Commits named in git's own words, `[main 1a2b3c4] subject`. */
export function commitsIn(output: string): string[] {
  return Array.from(
    output.matchAll(/^\[[^\]\s]+ (?:\(root-commit\) )?([0-9a-f]{7,40})\] /gm),
    (match) => match[1] ?? "",
  );
}

/** A path as the repository knows it. */
export function inside(cwd: string | undefined, path: string): string {
  return cwd !== undefined && path.startsWith(`${cwd}/`) ? path.slice(cwd.length + 1) : path;
}

/** The lines that a hunk of a unified diff leaves changed, from its first to its last; context around them does not count. */
export function editOfHunk(path: string, newStart: number, hunk: readonly string[]): Edit | undefined {
  let line = newStart;
  let first: number | undefined;
  let last = 0;
  for (const text of hunk) {
    if (text.startsWith("\\")) continue;
    if (text.startsWith("+") || text.startsWith("-")) {
      first ??= line;
      last = Math.max(last, line);
    }
    if (!text.startsWith("-")) line++;
  }
  return first === undefined ? undefined : { path, startLine: first, endLine: last };
}

/** The edits of a unified diff of one file, a hunk each. */
export function editsOfDiff(path: string, diff: string): Edit[] {
  const edits: Edit[] = [];
  for (const hunk of diff.split(/^(?=@@ )/m)) {
    const start = /^@@ -\d+(?:,\d+)? \+(\d+)/.exec(hunk);
    if (!start) continue;
    const edit = editOfHunk(path, Number(start[1]), hunk.replace(/\n$/, "").split("\n").slice(1));
    if (edit) edits.push(edit);
  }
  return edits;
}

/** The edit that writes a whole file. */
export function editOfWhole(path: string, content: string): Edit {
  return { path, startLine: 1, endLine: Math.max(1, content.replace(/\n$/, "").split("\n").length) };
}

/** Keeps ids apart that a transcript repeats: the second of a kind becomes `id#2`. */
export function distinctIds(): (id: string) => string {
  const seen = new Map<string, number>();
  return (id) => {
    const count = (seen.get(id) ?? 0) + 1;
    seen.set(id, count);
    return count === 1 ? id : `${id}#${count}`;
  };
}
