/**
 * Releases: the desktop installers that this installation points to or serves itself.
 * Not here: the page and the addresses on which they are handed out (site), the command that registers them (cli).
 */
export { addRelease } from "./add.ts";
export { installerFile } from "./files.ts";
export { examineInstallers, removeLeftovers } from "./leftovers.ts";
export { latestRelease, listReleases, type Release } from "./list.ts";
export { removeRelease } from "./remove.ts";
export { PLATFORM_NAMES } from "./rules.ts";
