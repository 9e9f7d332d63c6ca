import { hasControls } from "../../kit/strings.ts";
import { redactText } from "../../redact/redact.ts";

/** Characters an entry may have. */
export const MAX_GLOB_CHARS = 512;
/** Entries a watchlist may have. */
export const MAX_GLOBS = 1_000;

/** An entry that cannot stand, and where. */
export interface WrongGlob {
  /** Beginning at 1. */
  readonly line: number;
  readonly glob: string;
  readonly wrong: string;
}

/**
 * What is wrong with a watchlist entry: a glob for paths below the root of a repository, with `/` between folders.
 * Capture agents match it with libraries of their own, so brackets and braces, which `kit/glob.ts` does not know, may stand in it.
 * @returns undefined for a good one, else how it has to change: a phrase beginning with "must"
 */
export function judgeWatchlistEntry(glob: string): string | undefined {
  if (glob.trim() === "") return "must not be empty";
  if (glob.length > MAX_GLOB_CHARS) return `must have at most ${MAX_GLOB_CHARS} characters`;
  if (hasControls(glob)) return "must hold no control characters";
  if (glob.includes("\\")) return "must have / between folders, not \\";
  if (/^(?:\/|~|[A-Za-z]:)/.test(glob)) return "must be relative to the repository: no /, ~ or drive at the beginning";
  if (glob.split("/").includes("..")) return "must not leave the repository by ..";
  if (glob.startsWith("!") && glob[1] !== "(") return "must not be an exception: what is not listed is not watched";
  if (redactText(glob).findings.length > 0) return "must hold no secret";
  return judgeBrackets(glob);
}

const CLOSING: Readonly<Record<string, string>> = { "[": "]", "{": "}", "(": ")" };

/** A bracket that is never closed makes a pattern that matches nothing, or itself only. */
function judgeBrackets(glob: string): string | undefined {
  const open: string[] = [];
  for (const char of glob) {
    // Within [ ] every other bracket is a plain character.
    if (open.at(-1) === "[" && char !== "]") continue;
    if (char in CLOSING) open.push(char);
    else if (char === CLOSING[open.at(-1) ?? ""]) open.pop();
  }
  const left = open.at(-1);
  return left === undefined ? undefined : `must close its ${left} with a ${CLOSING[left]}`;
}

/** Reads a watchlist written one glob a line. Empty lines and repetitions are left out. */
export function readWatchlist(text: string): { readonly globs: string[]; readonly wrong: WrongGlob[] } {
  const globs = new Set<string>();
  const wrong: WrongGlob[] = [];
  for (const [i, written] of text.split(/\r\n|\r|\n/).entries()) {
    const glob = written.trim();
    if (glob === "" || globs.has(glob)) continue;
    const line = i + 1;
    const problem =
      globs.size >= MAX_GLOBS ? `must go: a watchlist has at most ${MAX_GLOBS} entries` : judgeWatchlistEntry(glob);
    if (problem === undefined) globs.add(glob);
    else wrong.push({ line, glob, wrong: problem });
  }
  return { globs: [...globs], wrong };
}
