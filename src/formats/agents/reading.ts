/** What the readers of all agents share: they accept anything, cap what they pass on, and report a fact once. */
import { isObject } from "../../kit/json.ts";
import { exceededBoundNow, type JsonLimits } from "../../kit/json-bounds.ts";
import { beginning } from "../../kit/strings.ts";
import { changesOfDiff } from "../edits.ts";
import { readUsage } from "../usage.ts";
import { asDateTime, asObject, asText, type Fields, parseJson, readInstant } from "../values.ts";
import type { Edit, SessionEvent, TranscriptEvent, TranscriptReader, Usage } from "./transcript.ts";

/** The state that every reader keeps, beside that of its agent: plain JSON, short. */
export interface Memory {
  sessionId: string;
  /** The facts of the session that were reported last. */
  said: SessionFacts;
  commits: CommitWatch;
}

type SessionFacts = Partial<Omit<SessionEvent, "type" | "sessionId" | "at">>;

/** What a reader remembers where nothing was read yet. */
export function newMemory(sessionId: string): Memory {
  return { sessionId, said: {}, commits: { made: false, making: [], asking: [] } };
}

/** Far above what agents write, and below what would occupy a process for seconds. Short records cannot, so they are not judged. */
const LIMITS: JsonLimits = { depth: 1_000, values: 1_000_000, containers: 200_000, beginnings: 50_000 };
const UNJUDGED_CHARS = 256 * 1024;

/**
 * A reader of JSON objects.
 * @param memory what it remembers at the beginning; `read` changes it
 * @param carry what an earlier reader remembered
 * @param read gives the events of a record
 */
export function readerOf<M extends Memory>(
  memory: M,
  carry: unknown,
  read: (record: Fields, memory: M) => readonly TranscriptEvent[],
): TranscriptReader {
  const own = isObject(carry) ? ({ ...memory, ...structuredClone(carry) } as M) : memory;
  return {
    read(record) {
      if (record.length > UNJUDGED_CHARS && exceededBoundNow(record, LIMITS)) return [unknownKind(undefined)];
      // Editors and shells of Windows put a byte order mark before the first record.
      const fields = parseJson(record.replace(/^\uFEFF/, ""));
      if (!isObject(fields)) return [unknownKind(undefined)];
      try {
        return read(fields, own);
      } catch {
        return [unknownKind(undefined)];
      }
    },
    // Without the title: it is text of the session, and whoever stores this may have to store no text.
    carry: () => structuredClone({ ...own, said: { ...own.said, title: undefined } }),
  };
}

/** A record's own members that its events repeat. */
export interface Common {
  readonly key: string;
  readonly sessionId: string;
  /** When it was written, in ISO 8601; undefined where it does not say. */
  readonly at: string | undefined;
}

const MAX_KIND_CHARS = 100;

export function unknownKind(kind: string | undefined): TranscriptEvent {
  return { type: "unknown", kind: kind === undefined ? "unreadable" : beginning(kind, MAX_KIND_CHARS) };
}

/** An instant as any agent writes it, in ISO 8601. */
export function instantOf(value: unknown): string | undefined {
  const written = asDateTime(value);
  if (written !== undefined) return written;
  const at = readInstant(value);
  return at === null ? undefined : new Date(at).toISOString();
}

/** What a record says of its session, as far as it was not said before. */
export function sessionFacts(memory: Memory, facts: SessionFacts, at: string | undefined): SessionEvent[] {
  const event: Record<string, string> = {};
  for (const [name, value] of Object.entries(facts)) {
    const fact = value === undefined ? undefined : capped(value, MAX_FACT_CHARS);
    if (fact !== undefined && fact !== memory.said[name as keyof SessionFacts]) event[name] = fact;
  }
  if (Object.keys(event).length === 0) return [];
  memory.said = { ...memory.said, ...event };
  return [{ type: "session", sessionId: memory.sessionId, at, ...event }];
}

const MAX_FACT_CHARS = 1024;
/**
 * Far more than the 65,536 UTF-16 units that are kept of a text. So redaction sees secrets across the cut whole, and the cut text says that
 * there was more.
 */
const MAX_TEXT_BYTES = 256 * 1024;
/** Longer runs of its alphabet are data in base64, not words. */
const BASE64 = /(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{1024,}={0,2}/g;
const MIN_BASE64_CHARS = 1024;
const isBase64Char = (char: string) => /[A-Za-z0-9+/]/.test(char);

/** Whether a text may hold such a run, by looking at places of which every run covers one. That spares searching most texts. */
function hasBase64(text: string): boolean {
  for (let at = MIN_BASE64_CHARS - 1; at < text.length; at += MIN_BASE64_CHARS) {
    let [from, to] = [at, at];
    while (to - from < MIN_BASE64_CHARS && from >= 0 && isBase64Char(text.charAt(from))) from--;
    while (to - from < MIN_BASE64_CHARS && to < text.length && isBase64Char(text.charAt(to))) to++;
    if (to - from >= MIN_BASE64_CHARS) return true;
  }
  return false;
}

function capped(text: string, most: number): string {
  if (text.length * 3 <= most || Buffer.byteLength(text) <= most) return text.toWellFormed();
  const cut = Buffer.from(beginning(text, most)).subarray(0, most);
  // A character whose bytes were cut in half becomes a replacement character, which is left out.
  return cut.toString("utf8").replace(/\uFFFD$/, "");
}

/** A text as it leaves a reader: 256 KiB at most, without data in base64. Undefined when there is none. */
export function textOf(value: unknown): string | undefined {
  if (typeof value !== "string" || value === "") return undefined;
  // Enough to fill the cap even after a picture was taken out.
  const text = value.slice(0, 4 * MAX_TEXT_BYTES);
  return capped(hasBase64(text) ? text.replace(BASE64, "[image]") : text, MAX_TEXT_BYTES);
}

/** The texts of content blocks as all providers write them, a line between two; pictures by name, thoughts not at all. */
export function textOfBlocks(content: unknown): string | undefined {
  if (!Array.isArray(content)) return textOf(content);
  const texts = content.slice(0, 1000).flatMap((block: unknown) => {
    const { type, text } = asObject(block);
    if (typeof type === "string" && /image/.test(type)) return ["[image]"];
    const own = typeof block === "string" ? block : text;
    return type === undefined || /^(?:input_|output_)?text$/.test(asText(type) ?? "") ? (textOf(own) ?? []) : [];
  });
  return textOf(texts.join("\n"));
}

const MAX_DEPTH = 16;
const MAX_ELEMENTS = 1000;

/** A tool's input as it leaves a reader: its texts together capped like one, without depths that others could not follow. */
export function inputOf(value: unknown): unknown {
  let left = MAX_TEXT_BYTES;
  const take = (part: unknown, depth: number): unknown => {
    if (typeof part === "string") {
      const text = capped(textOf(part) ?? "", left);
      left -= Buffer.byteLength(text);
      return text;
    }
    if (typeof part !== "object" || part === null) return part;
    if (depth >= MAX_DEPTH) return "[…]";
    if (Array.isArray(part)) return part.slice(0, MAX_ELEMENTS).map((element) => take(element, depth + 1));
    if (/image/.test(asText((part as Fields).type) ?? "")) return "[image]";
    const members = Object.entries(part).slice(0, MAX_ELEMENTS);
    return Object.fromEntries(members.map(([name, member]) => [capped(name, MAX_KIND_CHARS), take(member, depth + 1)]));
  };
  return take(value, 0);
}

/**
 * Tokens as a provider or agent writes them.
 * @returns undefined when there are none
 */
export function usageOf(id: string, value: unknown, requestId?: string): Usage | undefined {
  const usage = readUsage(value);
  if (!usage) return undefined;
  const { cacheWrite, cacheWrite1h } = usage;
  return {
    id,
    ...(requestId === undefined ? {} : { requestId }),
    input_tokens: usage.input ?? 0,
    output_tokens: usage.output ?? 0,
    cache_creation_input_tokens: (cacheWrite ?? 0) + (cacheWrite1h ?? 0),
    cache_read_input_tokens: usage.cacheRead ?? 0,
    ...(cacheWrite1h === null
      ? {}
      : {
          cache_creation: {
            ephemeral_5m_input_tokens: cacheWrite ?? 0,
            ephemeral_1h_input_tokens: cacheWrite1h,
          },
        }),
  };
}

const MAX_EDITS = 1000;
const MAX_DIFF_CHARS = 1024 * 1024;

/** The edits of a unified diff of one file, one for each run of changed lines. */
export function editsOfDiff(path: string, diff: string): Edit[] {
  const changes = changesOfDiff(diff.length <= MAX_DIFF_CHARS ? diff : beginning(diff, MAX_DIFF_CHARS));
  return changes.slice(0, MAX_EDITS).map(({ startLine, endLine, shift }) => {
    const added = endLine - startLine + 1;
    return { path, startLine, endLine, added, removed: added - shift };
  });
}

/** The edit that writes a new file. */
export function editOfWhole(path: string, content: string): Edit {
  const ends = content.match(/\n/g)?.length ?? 0;
  const lines = content === "" || content.endsWith("\n") ? ends : ends + 1;
  return { path, startLine: 1, endLine: lines, added: lines, removed: 0 };
}

/** Follows the commands of a session: an id alone in an output is that of a new commit only after `git commit`. */
export interface CommitWatch {
  /** Whether a commit was made that nobody has asked the id of. */
  made: boolean;
  /** Tools that run `git commit`, and those that ask for the id of HEAD. */
  making: string[];
  asking: string[];
}

const COMMITS = /\bgit(?:\s+(?:-[cC]\s+[^\s-]\S*|-[\w-]+(?:=\S+)?))*\s+commit(?![\w-])/;
const ASKS_HEAD = /\bgit\s+(?:-C\s+[^\s-]\S*\s+)?rev-parse\s+(?:--verify\s+)?HEAD\s*(?:$|[;&|\n])/;
const MAX_COMMAND_CHARS = 16 * 1024;
const MAX_TOOLS = 64;

/** Looks at the command that a tool is to run. */
export function watchCommand(watch: CommitWatch, toolId: string, command: unknown): void {
  const text = asText(Array.isArray(command) ? command.filter((part) => typeof part === "string").join(" ") : command);
  if (text === undefined) return;
  const head = text.slice(0, MAX_COMMAND_CHARS);
  const [makes, asks] = [COMMITS.test(head), ASKS_HEAD.test(head)];
  if (makes) watch.making = [...watch.making, toolId].slice(-MAX_TOOLS);
  if (asks) watch.asking = [...watch.asking, toolId].slice(-MAX_TOOLS);
  // A question that comes later may have another reason.
  if (!makes && !asks) watch.made = false;
}

/**
 * Commits that a tool's output reports: in git's words, `[main 1a2b3c4] subject`, or as the answer to a question for the id of HEAD, when
 * git said nothing of a commit in the same command or in the one before.
 */
export function commitsOf(watch: CommitWatch, toolId: string, output: string | undefined, failed: boolean): string[] {
  const [makes, asks] = [watch.making.includes(toolId), watch.asking.includes(toolId)];
  watch.making = watch.making.filter((id) => id !== toolId);
  watch.asking = watch.asking.filter((id) => id !== toolId);
  const text = output ?? "";
  const named = Array.from(text.matchAll(NAMED), (match) => match[1] as string).slice(0, MAX_EDITS);
  const isQuiet = makes && !failed && named.length === 0;
  const candidate = asks && !failed ? text.match(/^[0-9a-f]{40}$/gm)?.at(-1) : undefined;
  const isTheOne = (short: string) => candidate?.startsWith(short) === true;
  const head = isQuiet || watch.made || named.some(isTheOne) ? candidate : undefined;
  watch.made = (isQuiet || (watch.made && !asks)) && head === undefined;
  return [...new Set(head === undefined ? named : [...named.filter((short) => !isTheOne(short)), head])];
}

const NAMED = /^\[(?:detached HEAD|[^\]\s]{1,250}) (?:\(root-commit\) )?([0-9a-f]{7,40})\] /gm;
