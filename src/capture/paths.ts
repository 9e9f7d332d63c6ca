import { isAbsolute, join, relative, resolve, sep } from "node:path";
import type { SessionHead } from "./session-head.ts";

/** A path as the repository knows it; outside of it without the person's home folder. */
export function pathIn({ cwd, root, below }: SessionHead, path: string, home: string): string {
  const absolute = isAbsolute(path) ? path : cwd === undefined ? undefined : resolve(cwd, path);
  if (absolute === undefined) return path;
  // By the folder as the agent names it, which may be reached through links, else by the work tree's own name.
  const own = cwd === undefined ? undefined : within(cwd, absolute);
  const inside = own === undefined ? (root ? within(root, absolute) : undefined) : posix(join(below ?? "", own));
  if (inside !== undefined) return inside;
  return absolute.startsWith(`${home}${sep}`) ? `~${posix(absolute.slice(home.length))}` : absolute;
}

const posix = (path: string) => path.split(sep).join("/");

/** @returns undefined where a path does not lie below a folder */
function within(folder: string, path: string): string | undefined {
  const inside = relative(folder, path);
  return inside === "" || inside === ".." || inside.startsWith(`..${sep}`) || isAbsolute(inside)
    ? undefined
    : posix(inside);
}
