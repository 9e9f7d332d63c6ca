/**
 * Globs over file paths, in the part of the common notation that needs no explaining: `*` is any characters within one part of
 * the path, `?` one of them, `**` as a whole part any number of parts; all else stands for itself, case counts, and a leading
 * dot is a character like any other. Matching never backtracks further than to the last star, so its cost is bounded by the
 * product of the two lengths whatever the glob; matchers that compile to regular expressions promise no such thing.
 */

const MAX_CHARS = 256;

/** What is wrong with a glob, continuing a sentence that begins with its name; undefined when nothing is. */
export function judgeGlob(glob: string): string | undefined {
  if (glob === "") return "is empty";
  if (glob.length > MAX_CHARS) return `has more than ${MAX_CHARS} characters`;
  if (/[{}]/.test(glob) || glob.startsWith("!")) return "holds braces or begins with !; give each glob by itself";
  if (glob.includes("\\")) return "holds a backslash; separate folders with /";
  if (glob.startsWith("/")) return "begins with /; paths are relative to the repository";
  if (glob.endsWith("/")) return `ends with /; a folder's files are ${glob}**`;
  if (glob.split("/").some((part) => part === "" || part === "." || part === ".."))
    return 'holds an empty, "." or ".." part';
  return undefined;
}

/** Makes the matcher of a glob that `judgeGlob` finds nothing wrong with. */
export function globMatcher(glob: string): (path: string) => boolean {
  const parts = glob.normalize("NFC").split("/");
  // `folder/**` is what lies in the folder, so at least one part has to match the last star.
  if (parts.at(-1) === "**") parts.push("*");
  return (path) => wildcard(path.normalize("NFC").split("/"), parts, (part) => part === "**", matchesPart);
}

const matchesPart = (text: string, pattern: string): boolean =>
  text === pattern || wildcard(text, pattern, (char) => char === "*", matchesChar);
const matchesChar = (char: string, pattern: string): boolean => pattern === "?" || char === pattern;

/** Whether a sequence matches a pattern, in which a star matches any run. Only the last star met is ever tried again. */
function wildcard(
  text: ArrayLike<string>,
  pattern: ArrayLike<string>,
  isStar: (element: string) => boolean,
  matches: (element: string, pattern: string) => boolean,
): boolean {
  let at = 0;
  let in_ = 0;
  let star = -1;
  let resume = 0;
  while (at < text.length) {
    const expected = pattern[in_];
    if (expected !== undefined && isStar(expected)) {
      star = in_++;
      resume = at;
    } else if (expected !== undefined && matches(text[at] as string, expected)) {
      at++;
      in_++;
    } else if (star >= 0) {
      in_ = star + 1;
      at = ++resume;
    } else return false;
  }
  while (in_ < pattern.length && isStar(pattern[in_] as string)) in_++;
  return in_ === pattern.length;
}
