import { realpathSync } from "node:fs";
import { isAbsolute, join, relative, resolve, sep } from "node:path";
import type { SessionHead } from "./session-head.ts";

/** The names of the person's home folder: agents name what lies in it by its own, where `HOME` leads there through a link. */
export function homePathsOf(home: string): readonly string[] {
  const names = [resolve(home)];
  try {
    names.push(realpathSync(home));
  } catch {
    // It is not there, or closed.
  }
  return names;
}

/** A path as the repository knows it; outside of it without the person's home folder. @param homePaths see `homePathsOf` */
export function pathIn(
  { cwd, root, below }: Pick<SessionHead, "cwd" | "root" | "below">,
  path: string,
  homePaths: readonly string[],
): string {
  const absolute = isAbsolute(path) ? path : cwd === undefined ? undefined : resolve(cwd, path);
  if (absolute === undefined) return path;
  // By the folder as the agent names it, which may be reached through links, else by the work tree's own name.
  const own = cwd === undefined ? undefined : within(cwd, absolute);
  const inside = own === undefined ? (root ? within(root, absolute) : undefined) : posix(join(below ?? "", own));
  if (inside !== undefined) return inside;
  const home = homePaths.find((name) => absolute.startsWith(`${name}${sep}`));
  return home === undefined ? absolute : `~${posix(absolute.slice(home.length))}`;
}

const posix = (path: string) => path.split(sep).join("/");

/** @returns undefined where a path does not lie below a folder */
function within(folder: string, path: string): string | undefined {
  const inside = relative(folder, path);
  return inside === "" || inside === ".." || inside.startsWith(`..${sep}`) || isAbsolute(inside)
    ? undefined
    : posix(inside);
}
