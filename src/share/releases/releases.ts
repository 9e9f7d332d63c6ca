/**
 * Releases: the desktop installers that this installation points to or serves itself.
 * Not here: the page and the addresses on which they are handed out (site), the command that registers them (cli).
 */

export { installerFile } from "./files.ts";
export { examineInstallers, removeLeftovers } from "./leftovers.ts";
export { latestRelease, listReleases, type Release } from "./list.ts";
export { addRelease, removeRelease } from "./registry.ts";
export { PLATFORM_NAMES } from "./rules.ts";
