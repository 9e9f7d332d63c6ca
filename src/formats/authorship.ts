import { isObject } from "../kit/json.ts";
import { exceededBoundNow } from "../kit/json-bounds.ts";
import { asObject, asObjects, asText, type Fields, parseJson, readId } from "./values.ts";

/**
 * Git AI's authorship log: which lines of a commit which agent's session wrote, as the note of that commit holds it
 * (https://github.com/git-ai-project/git-ai, specs/git_ai_standard_v3.0.0.md). Files with their attestations, a line `---`, and a JSON
 * object. Keys of sessions (`s_…::t_…`), of people (`h_…`) and those of before version 1.4 (hexadecimal digits) may stand side by side.
 * What is not understood is passed over.
 */

/** An agent's session, as a note names it. */
export interface Author {
  /** The agent, as Git AI calls it: `claude`, `codex`, `cursor`, … */
  readonly tool: string | null;
  /** The agent's own id for the session. */
  readonly session: string;
  readonly model: string | null;
  /** The last prompt; only notes from before version 1.3.4 have it. */
  readonly prompt: string | null;
}

/** What a note says of a line. */
export interface LineAuthor {
  /** As the note writes it. */
  readonly path: string;
  /** Undefined for a person. */
  readonly author: Author | undefined;
  /** Tells this edit from others of its session; the session's key when the note has no trace. */
  readonly trace: string;
}

const DIVIDER = "---";
/** Far more than any commit has. */
const MAX_AUTHORS = 1_000;
const LIMITS = { depth: 64, values: 200_000, containers: 100_000, beginnings: 10_000 };

/**
 * The text below a note's divider, which is a JSON object in those of Git AI; empty where there is none.
 * @returns undefined where it holds more than can be read
 */
export function metadataText(note: string): string | undefined {
  const divider = /^---\r?$/m.exec(note);
  const text = divider ? note.slice(divider.index + divider[0].length) : "";
  return exceededBoundNow(text, LIMITS) === undefined ? text : undefined;
}

const metadataOf = (note: string): Fields => asObject(parseJson(metadataText(note) ?? ""));

/**
 * The agents' sessions that a note names, by the keys that its attestations call them by.
 * @returns undefined where there are more than `MAX_AUTHORS`, or more of anything than can be read
 */
export function authorsOf(note: string): ReadonlyMap<string, Author> | undefined {
  const text = metadataText(note);
  if (text === undefined) return undefined;
  const { prompts, sessions } = asObject(parseJson(text));
  const records = [...Object.entries(asObject(prompts)), ...Object.entries(asObject(sessions))];
  if (records.length > MAX_AUTHORS) return undefined;
  const authors = new Map<string, Author>();
  for (const [key, record] of records) {
    const { agent_id, messages } = asObject(record);
    const { tool, id, model } = asObject(agent_id);
    const session = readId(id);
    if (session === undefined) continue;
    authors.set(key, {
      tool: readId(tool) ?? null,
      session,
      model: readId(model) ?? null,
      prompt: lastAsked(messages),
    });
  }
  return authors;
}

function lastAsked(messages: unknown): string | null {
  const prompt = asObjects(messages).findLast(({ type, role }) => type === "user" || role === "user");
  return asText(prompt?.text)?.toWellFormed() ?? null;
}

/**
 * The authors of a line, one for each file of the note that `isMeant` selects. When several attestations cover the line, the last counts.
 * @param isMeant given a path as the note writes it
 * @param line 1-based, as the file stands at the commit
 * @param pause awaited between lines of the note, see `kit/yield.ts`
 */
export async function lineAuthors(
  note: string,
  isMeant: (path: string) => boolean,
  line: number,
  pause: () => Promise<void> | undefined,
): Promise<LineAuthor[]> {
  const found = new Map<string, string>();
  let path: string | undefined;
  for (const text of linesOf(note)) {
    const wait = pause();
    if (wait) await wait;
    if (text === DIVIDER) break;
    if (!text.startsWith("  ")) {
      const named = text.length > 1 && text.startsWith('"') && text.endsWith('"') ? text.slice(1, -1) : text;
      path = named !== "" && isMeant(named) ? named : undefined;
      continue;
    }
    const space = text.indexOf(" ", 2);
    if (path === undefined || space < 0 || !covers(text.slice(space + 1, space + MAX_RANGES_CHARS), line)) continue;
    found.set(path, text.slice(2, space));
  }
  if (found.size === 0) return [];
  const authors = authorsOf(note) ?? new Map<string, Author>();
  return [...found].flatMap(([path, key]): LineAuthor[] => {
    const [name = "", trace = name] = key.split("::");
    if (name.startsWith("h_")) return [{ path, author: undefined, trace }];
    const author = authors.get(name);
    return author ? [{ path, author, trace }] : [];
  });
}

/** Lines one by one: a note may have hundreds of thousands. */
function* linesOf(note: string): Generator<string> {
  for (let from = 0; from < note.length; ) {
    const end = note.indexOf("\n", from);
    const line = note.slice(from, end < 0 ? note.length : end).trimEnd();
    if (line !== "") yield line;
    if (end < 0) return;
    from = end + 1;
  }
}

/** Characters that are read of one attestation; in the largest commits it has a tenth of that. */
const MAX_RANGES_CHARS = 256 * 1024;
const RANGE = /(\d{1,10})(?:-(\d{1,10}))?(?:,|$)/y;

/** @param ranges such as `1,3-5`; read as far as they are of that form */
function covers(ranges: string, line: number): boolean {
  RANGE.lastIndex = 0;
  for (let range = RANGE.exec(ranges); range; range = RANGE.exec(ranges)) {
    const first = Number(range[1]);
    if (first <= line && line <= Number(range[2] ?? first)) return true;
  }
  return false;
}

/** Members of a note that hold only metadata, with the form of each. An object describes the members within; `*` stands for any name. */
interface Members {
  readonly [name: string]: Members | "word" | "name" | "number";
}
const RECORD: Members = {
  agent_id: { tool: "word", id: "word", model: "word" },
  human_author: "name",
  messages_url: "word",
  ...Object.fromEntries(
    ["total_additions", "total_deletions", "accepted_lines", "overriden_lines"].map((name) => [name, "number"]),
  ),
};
const METADATA: Members = {
  schema_version: "word",
  git_ai_version: "word",
  base_commit_sha: "word",
  prompts: { "*": RECORD },
  sessions: { "*": RECORD },
  humans: { "*": { author: "name" } },
};

/**
 * Whether a note holds nothing but who wrote which lines: paths, lines, ids, names of agents, models and people, counts. Attributes of
 * the user's own, transcripts and members that are not known may be anything.
 */
export function isMetadataNote(note: string): boolean {
  let isBelow = false;
  for (const text of linesOf(note)) {
    if (text === DIVIDER) {
      isBelow = true;
      break;
    }
    if (text.length > 64 * 1024) return false;
    if (text.startsWith("  ") && !/^ {2}\S{1,64} [\d,-]+$/.test(text)) return false;
    if (!text.startsWith("  ") && text.length > 4_096) return false;
  }
  const metadata = metadataOf(note);
  return isBelow && typeof metadata.schema_version === "string" && fits(metadata, METADATA);
}

function fits(value: unknown, kind: Members[string]): boolean {
  if (value === null) return true;
  if (kind === "number") return typeof value === "number";
  if (kind === "word") return typeof value === "string" && /^[\w.:/@#+-]{0,256}$/.test(value);
  if (kind === "name") return readId(value) !== undefined || value === "";
  return (
    isObject(value) &&
    Object.entries(value).every(([name, member]) => {
      const known = Object.hasOwn(kind, name) ? kind[name] : /^[\w:]{1,64}$/.test(name) ? kind["*"] : undefined;
      return known !== undefined && fits(member, known);
    })
  );
}
