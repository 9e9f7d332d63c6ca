/** Paths as agents and people write them, made comparable. Case counts: two files may differ by it alone. */

const MAX_PATH_CHARS = 512;

/**
 * A path with `/` between its parts, without `.` and empty parts; `..` is taken back where there is something before it.
 * @param roots folders whose files the repository knows by the rest of the path, normalised
 * @returns undefined for what is no path of a file: empty, too long, a folder above all others
 */
export function normalisePath(written: string, roots: readonly string[] = []): string | undefined {
  if (written.length > 4 * MAX_PATH_CHARS) return undefined;
  const plain = written
    .trim()
    .replace(/^file:\/\/(?:localhost)?(?=\/)/i, "")
    .replaceAll("\\", "/");
  const absolute = plain.startsWith("/");
  const parts: string[] = [];
  for (const part of plain.split("/")) {
    if (part === "" || part === ".") continue;
    if (part === ".." && parts.length > 0 && parts.at(-1) !== "..") parts.pop();
    else parts.push(part);
  }
  if (parts.length === 0) return undefined;
  const whole = (absolute ? "/" : "") + parts.join("/");
  const root = roots.find((folder) => whole.startsWith(`${folder}/`));
  const path = root === undefined ? whole : whole.slice(root.length + 1);
  return path.length <= MAX_PATH_CHARS ? path.toWellFormed() : undefined;
}

/** The last part of a path: two paths of one file have it in common, however much of the rest each side knows. */
export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

export const isAbsolute = (path: string): boolean => path.startsWith("/") || /^[A-Za-z]:\//.test(path);

/**
 * Whether a path as somebody names it is that of a session's file. Either may know less of it: people leave out folders, and
 * sessions tell of a repository that stands somewhere on their machine.
 */
export function isSameFile(named: string, known: string): boolean {
  if (named === known || known.endsWith(`/${named}`)) return true;
  return isAbsolute(named) && !isAbsolute(known) && named.endsWith(`/${known}`);
}
