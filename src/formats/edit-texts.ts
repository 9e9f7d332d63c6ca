import { isObject } from "../kit/json.ts";
import { asObjects, asText, type Fields, firstOf, parseJson } from "./values.ts";

/** The texts of an editing tool's input, before and after. */

/** One place of a file. */
interface EditText {
  /** Null where the input does not name it. */
  readonly path: string | null;
  /** Empty for a file that is written whole. */
  readonly before: string;
  readonly after: string;
}

/** What an edit's input says. */
export interface EditTexts {
  readonly texts: readonly EditText[];
  /** A patch instead, unified or as Codex writes them; null for none. */
  readonly patch: string | null;
  /** What else the input says, as JSON; empty for nothing. */
  readonly rest: string;
}

const PATHS = ["file_path", "filePath", "path", "target_file", "absolute_path", "notebook_path"];
const BEFORE = ["old_string", "oldString", "old_str", "old_source"];
const AFTER = ["new_string", "newString", "new_str", "new_source"];
const WHOLE = ["content", "contents", "file_text"];
const PATCHES = ["patch", "diff", "input", "patchText"];
/** Texts of one input at most: nobody reads more. */
const MAX_TEXTS = 50;

/**
 * Reads the input of an editing tool: Claude Code's Edit, MultiEdit, Write and NotebookEdit, Anthropic's text editor, Gemini's
 * replace and write_file, OpenCode's edit and write, Codex's apply_patch.
 * @param input an object of parameters, its JSON text, or the text of a patch
 * @returns undefined for any other input
 */
export function readEditTexts(input: unknown): EditTexts | undefined {
  if (isPatch(input)) return { texts: [], patch: input, rest: "" };
  const value = typeof input === "string" ? parseJson(input) : input;
  if (!isObject(value)) return undefined;
  const fields: Fields = value;
  const patch = PATCHES.map((name) => fields[name]).find(isPatch);
  const rest = (of: readonly string[]) => restOf(fields, [...PATHS, ...of]);
  if (patch !== undefined) return { texts: [], patch, rest: rest(PATCHES) };
  const path = firstOf(fields, PATHS, asText);
  const many = asObjects(fields.edits).slice(0, MAX_TEXTS);
  const texts = (many.length > 0 ? many : [fields]).flatMap((one) => replacement(one, path));
  if (texts.length > 0) return { texts, patch: null, rest: rest([...BEFORE, ...AFTER, "edits"]) };
  const whole = path === null ? null : firstOf(fields, WHOLE, asText);
  return whole === null ? undefined : { texts: [{ path, before: "", after: whole }], patch: null, rest: rest(WHOLE) };
}

const isPatch = (value: unknown): value is string =>
  typeof value === "string" && /^(?:\*\*\* (?:Begin Patch|Update File|Add File)|@@ |--- )/m.test(value.slice(0, 2_000));

const asString = (value: unknown) => (typeof value === "string" ? value : undefined);

function replacement(fields: Fields, path: string | null): EditText[] {
  const after = firstOf(fields, AFTER, asString);
  if (after === null) return [];
  return [{ path: firstOf(fields, PATHS, asText) ?? path, before: firstOf(fields, BEFORE, asString) ?? "", after }];
}

/** The members that were not understood, as JSON. `false` is left out: it is the default of all these tools. */
function restOf(fields: Fields, understood: readonly string[]): string {
  const rest = Object.entries(fields).filter(([name, value]) => !understood.includes(name) && value !== false);
  return rest.length === 0 ? "" : JSON.stringify(Object.fromEntries(rest));
}
