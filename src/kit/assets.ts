import { readFileSync } from "node:fs";
import { join } from "node:path";

/** Set by the bundler to the folder of embedded files, relative to the bundle; absent when run from source. */
declare const RECKON_ASSETS: string | undefined;
/** Set by the bundler from package.json. */
declare const RECKON_VERSION: string | undefined;

const ROOT = typeof RECKON_ASSETS === "string" ? RECKON_ASSETS : "../..";

/**
 * Reads a text file that ships with the program.
 * @param path from the repository's root, e.g. `schema.sql`
 */
export function readAsset(path: string): string {
  return readFileSync(join(import.meta.dirname, ROOT, path), "utf8");
}

/** The module that a thread starts from: its text within the executable, whose files threads cannot read, or else a file. */
export function threadSource(): { readonly source: string | URL; readonly isText: boolean } {
  if (typeof RECKON_ASSETS === "string") return { source: readAsset("worker.mjs"), isText: true };
  return { source: new URL("../worker.ts", import.meta.url), isText: false };
}

/** The program's version, as in package.json. */
export function programVersion(): string {
  if (typeof RECKON_VERSION === "string") return RECKON_VERSION;
  return (JSON.parse(readAsset("package.json")) as { version: string }).version;
}
