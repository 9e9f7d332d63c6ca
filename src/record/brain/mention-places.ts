/** Where a text names commits and files: decisions about text alone. */

const MIN_SHA_CHARS = 7;
const HEX_RUN = /[0-9a-f]{7}/i;
/** Agents may send abbreviated commits; one this long is whole. */
const FULL_SHA = 40;
const SHA_RUN = /(?<![\p{L}\p{N}])[0-9a-f]{7,64}(?![\p{L}\p{N}])/gu;
/** So few paths are sooner looked for one by one than all the words of a text are looked at. */
const FEW_PATHS = 32;
const MAX_ODD = 50;

/** A commit as people write it, or a run of what paths are made of. */
const WORD = /[^\s`"'()[\]{}<>|,;*]+/g;

/** What a place names: a commit's SHA as it was looked for, or a file's path. */
export interface Named {
  readonly kind: "commit" | "file";
  readonly value: string;
}

const NONE: readonly number[] = [];

/** What the commits that a text may name begin with: their first seven digits, as numbers, which take little memory. */
export function beginningsIn(text: string): readonly number[] {
  if (!HEX_RUN.test(text)) return NONE;
  const runs = text.toLowerCase().matchAll(SHA_RUN);
  return Array.from(runs, ([hex]) => beginningOf(hex));
}

/** @param hex seven hexadecimal digits or more */
export const beginningOf = (hex: string): number => Number.parseInt(hex.slice(0, MIN_SHA_CHARS), 16);

/** Commits by their first seven digits; what is no SHA, or shorter, is left out. */
export function shasByBeginning(commits: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const shas = commits.map((sha) => sha.toLowerCase()).filter((sha) => /^[0-9a-f]{7,64}$/.test(sha));
  return Map.groupBy(new Set(shas), (sha) => sha.slice(0, MIN_SHA_CHARS));
}

export interface Paths {
  readonly plain: ReadonlySet<string>;
  /** Paths with a space or a bracket, which no single word holds. Each costs a walk through the text. */
  readonly odd: readonly string[];
  /** Not all of them are looked for. */
  readonly cut: boolean;
}

export const NO_PATHS: Paths = { plain: new Set(), odd: [], cut: false };

/** Whether a text may name one of some paths. */
export const mayName = ({ plain, odd }: Paths, text: string): boolean =>
  odd.length > 0 || plain.size > FEW_PATHS || [...plain].some((path) => text.includes(path));

/** Sorts paths by how they are looked for. */
export function sortPaths(paths: readonly string[]): Paths {
  const isPlain = (path: string) => path.match(WORD)?.[0] === path;
  const odd = paths.filter((path) => !isPlain(path));
  return { plain: new Set(paths.filter(isPlain)), odd: odd.slice(0, MAX_ODD), cut: odd.length > MAX_ODD };
}

export interface Place {
  /** In UTF-16 units from the beginning. */
  readonly at: number;
  readonly names: Named;
}

/** Characters that may end a word but are no part of a name. Expressions run only over words that end so. */
const END = new Set(".:!?");
const DIGITS = new Set("0123456789");
const endsInDigit = (word: string) => DIGITS.has(word.at(-1) ?? "");

/** A sentence's end, a line's number, a folder's own mark are no part of a path. */
function bareWord(word: string): string {
  const begun = word.startsWith("./") ? word.slice(2) : word;
  return END.has(begun.at(-1) ?? "") ? begun.replace(/[.:!?]+$/, "") : begun;
}

/** The commits that a word names, also within an address or a range: `…/commit/abc1234`, `abc1234..def5678`, `repo@abc1234`. */
function shasIn(word: string, commits: ReadonlyMap<string, readonly string[]>): string[] {
  if (word.length < MIN_SHA_CHARS || !HEX_RUN.test(word)) return [];
  const runs = word.toLowerCase().matchAll(SHA_RUN);
  return [...runs].flatMap(
    ([hex]) =>
      commits
        .get(hex.slice(0, MIN_SHA_CHARS))
        ?.find((full) => full.startsWith(hex) || (full.length < FULL_SHA && hex.startsWith(full))) ?? [],
  );
}

/** The first place of each commit and file that a text names, in the order of the text. */
export function placesIn(
  text: string,
  commits: ReadonlyMap<string, readonly string[]>,
  { plain, odd }: Paths,
): Place[] {
  const places = new Map<string, Place>();
  const note = (kind: "commit" | "file", value: string, at: number) => {
    if (!places.has(`${kind} ${value}`)) places.set(`${kind} ${value}`, { at, names: { kind, value } });
  };
  const hasCommits = commits.size > 0 && HEX_RUN.test(text);
  for (const match of plain.size > 0 || hasCommits ? text.matchAll(WORD) : []) {
    const word = bareWord(match[0]);
    const path = endsInDigit(word) ? word.replace(/(?:[:#]L?\d+(?:-L?\d+)?)+$/, "") : word;
    if (plain.has(path)) note("file", path, match.index);
    else if (plain.has(word)) note("file", word, match.index);
    if (hasCommits) for (const sha of shasIn(word, commits)) note("commit", sha, match.index);
  }
  for (const path of odd) {
    const at = text.indexOf(path);
    if (at !== -1 && !/[\p{L}\p{N}_/]/u.test(text.charAt(at - 1) + text.charAt(at + path.length)))
      note("file", path, at);
  }
  return [...places.values()].sort((a, b) => a.at - b.at);
}
