import { misleadingSign } from "../kit/escape-invisible.ts";
import { hasControls } from "../kit/strings.ts";

const MAX_PATH_BYTES = 512;

/** What is wrong with a file's path, continuing a sentence that begins with its name; undefined when nothing is. Paths are keys, never file names. */
export function judgePath(path: string): string | undefined {
  if (path === "") return "is empty";
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) return `exceeds ${MAX_PATH_BYTES} bytes`;
  if (hasControls(path)) return "holds control characters or lone surrogates";
  const sign = misleadingSign(path);
  if (sign !== undefined) return `holds ${sign}, which cannot be seen or changes how the rest reads`;
  if (path.includes("\\")) return "holds a backslash; separate folders with /";
  if (path.startsWith("/") || /^[A-Za-z]:/.test(path)) return "is absolute; paths are relative to the repository";
  if (path.split("/").some((part) => part === "" || part === "." || part === ".."))
    return 'holds an empty, "." or ".." part';
  return undefined;
}

/**
 * The rules of `judgePath` as far as JSON Schema can express them. It counts characters and not bytes. Of the misleading characters it
 * names those of the Basic Multilingual Plane, since patterns of some languages know no others, without the joiners, and without line
 * separators, which generators of clients would write into a pattern literally.
 */
export const PATH_SCHEMA = {
  minLength: 1,
  maxLength: MAX_PATH_BYTES,
  pattern:
    "^[^\\\\\\u0000-\\u001f\\u007f-\\u009f\\u00ad\\u0600-\\u0605\\u061c\\u06dd\\u070f\\u0890\\u0891\\u08e2\\u115f\\u1160\\u180e" +
    "\\u200b\\u200e\\u200f\\u202a-\\u202e\\u2060-\\u2064\\u2066-\\u206f\\u3164\\ufeff\\uffa0\\ufff9-\\ufffb]+$",
  not: { pattern: "^[A-Za-z]:|(?:^|/)\\.{0,2}(?:/|$)" },
};

/** Two paths with the same key would be one file on some file systems: case and Unicode form do not tell them apart. */
export function collisionKey(path: string): string {
  return path.normalize("NFC").toLowerCase();
}
