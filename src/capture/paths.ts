import { realpathSync } from "node:fs";
import native, { win32 } from "node:path";
import type { SessionHead } from "./session-head.ts";

/** The names of the person's home folder: as `HOME` says it and, where that is a link, its own, which agents use. */
export function homePathsOf(home: string): readonly string[] {
  const names = [native.resolve(home)];
  try {
    names.push(realpathSync(home));
  } catch {
    // It is not there, or closed.
  }
  return names;
}

/** The path that a file has when its folder is reached through no link: an agent may name it by one that leads into its work tree. */
function withoutLinks(file: string): string {
  try {
    return native.join(realpathSync(native.dirname(file)), native.basename(file));
  } catch {
    return file;
  }
}

type System = typeof win32;
/** How a path of Windows begins, also where its transcript is read elsewhere. */
const OF_WINDOWS = /^(?:[A-Za-z]:[\\/]|\\\\)/;

/** A path within the repository; a path outside of it without the person's home folder. @param homePaths see `homePathsOf` */
export function pathIn(
  { cwd, root, below }: Pick<SessionHead, "cwd" | "root" | "below">,
  path: string,
  homePaths: readonly string[],
): string {
  const system = OF_WINDOWS.test(cwd ?? path) ? win32 : native;
  const absolute = system.isAbsolute(path) ? path : cwd === undefined ? undefined : system.resolve(cwd, path);
  if (absolute === undefined) return path;
  // First by the folder as the agent names it, which may be reached through links, then by the work tree's own name. A session that was put
  // down to a repository by what it edited there works in none of its folders.
  const own = cwd === undefined || (root && below === undefined) ? undefined : within(system, cwd, absolute);
  if (own !== undefined) return posix(system, system.join(below ?? "", own));
  const inside =
    root && (within(system, root, absolute) ?? (system === native && within(system, root, withoutLinks(absolute))));
  if (inside) return inside;
  // Agents name a drive of Windows c: as well as C:, with slashes of either kind.
  const atHome = homePaths.map((name) => within(system, name, absolute)).find((path) => path !== undefined);
  return atHome === undefined ? system.normalize(absolute) : `~/${atHome}`;
}

const posix = ({ sep }: System, path: string) => path.split(sep).join("/");

/** @returns undefined where a path does not lie below a folder */
function within(system: System, folder: string, path: string): string | undefined {
  const inside = system.relative(folder, path);
  return inside === "" || inside === ".." || inside.startsWith(`..${system.sep}`) || system.isAbsolute(inside)
    ? undefined
    : posix(system, inside);
}
