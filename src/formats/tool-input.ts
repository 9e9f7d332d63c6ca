import { isObject } from "../kit/json.ts";
import { asText, type Fields, parseJson } from "./values.ts";

/** A tool's input, as far as it is understood; `rest` has the remainder, so that nothing is left out. */
export interface ToolInput {
  /** For a shell, as it was written. */
  readonly command: string | null;
  /** The file that it is about. */
  readonly path: string | null;
  /** All else: compact JSON, or the text of an input that is no JSON; empty where there is nothing else. */
  readonly rest: string;
}

const COMMANDS = ["command", "cmd"];
const PATHS = ["file_path", "filePath", "path", "absolute_path", "notebook_path", "file.path"];

/**
 * Reads the input of a tool's call.
 * @param input an object of parameters, its JSON text, or any text
 */
export function readToolInput(input: unknown): ToolInput {
  const value = typeof input === "string" ? parseJson(input) : input;
  if (!isObject(value)) return { command: null, path: null, rest: typeof input === "string" ? input : spell(input) };
  const command = memberOf(value, COMMANDS, commandText);
  const path = command === undefined ? memberOf(value, PATHS, asText) : undefined;
  const understood = command ?? path;
  const rest = Object.entries(value).filter(([name]) => name !== understood?.name);
  return {
    command: command?.value ?? null,
    path: path?.value ?? null,
    rest: rest.length === 0 ? "" : JSON.stringify(Object.fromEntries(rest)),
  };
}

const spell = (value: unknown) => (value === undefined || value === null ? "" : JSON.stringify(value));

function memberOf(fields: Fields, names: readonly string[], read: (value: unknown) => string | undefined) {
  for (const name of names) {
    const value = read(fields[name]);
    if (value !== undefined) return { name, value };
  }
  return undefined;
}

/** A command as one line or script; of `["bash", "-lc", "…"]` what the shell is handed. */
function commandText(value: unknown): string | undefined {
  if (!Array.isArray(value)) return asText(value);
  if (value.length === 0 || !value.every((word) => typeof word === "string")) return undefined;
  const [, flag = "", script] = value;
  return value.length === 3 && /^-\w*c$/.test(flag) ? script : value.join(" ");
}
