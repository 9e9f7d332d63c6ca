import { readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Core } from "../../core.ts";
import { DAY_MS } from "../../kit/clock.ts";
import { isOtherRunning } from "../../kit/processes.ts";
import { FOLDER, hasFile } from "./files.ts";
import { rows } from "./rows.ts";

/** A copy being made, named by the process that makes it. */
const INCOMING = /^\.incoming-([1-9]\d*)$/;
/** A whole file, named by the SHA-512 of its content. */
const KEPT = /^[0-9a-f]{128}$/;

export interface InstallerFindings {
  /** Platform and version of those that we should serve, but whose file is not there whole. */
  readonly missing: readonly string[];
  /** Names in the folder that no release names, but for a copy that is being made. */
  readonly leftovers: readonly string[];
}

/** Compares the list of installers with the folder that their files lie in; changes nothing. */
export function examineInstallers(core: Core): InstallerFindings {
  const served = servedRows(core);
  return {
    missing: served.filter((row) => !hasFile(core, row)).map(({ platform, version }) => `${platform} ${version}`),
    leftovers: unnamed(core, served).filter((name) => !isBeingMade(name)),
  };
}

/**
 * Removes what a copy that was cut short left behind: at once where its process is gone, else after a day, and after a day whole
 * files that no release names. What is not named as we name files is not ours to remove. Never throws: it is no reason not to serve.
 * @param atOnce also what is new, where nobody else can be at work on it
 */
export function removeLeftovers(core: Core, { atOnce = false } = {}): void {
  let count = 0;
  try {
    for (const name of unnamed(core, servedRows(core))) {
      const path = join(core.store.directory, FOLDER, name);
      const isOurs = INCOMING.test(name) || KEPT.test(name);
      const mtimeMs = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
      if (!isOurs || mtimeMs === undefined) continue;
      const isOld = atOnce || core.clock.now() - mtimeMs > DAY_MS;
      if (!isOld && (KEPT.test(name) || isBeingMade(name))) continue;
      rmSync(path, { force: true });
      count++;
    }
  } catch (error) {
    core.log.warn("installer_leftovers_stay", { cause: String(error) });
  }
  if (count > 0) core.log.info("installer_leftovers_removed", { count });
}

function servedRows(core: Core) {
  return rows(core.store)
    .all.all()
    .filter(({ fileName }) => fileName !== null);
}

function unnamed(core: Core, served: ReturnType<typeof servedRows>): string[] {
  const named = new Set(served.map(({ sha512 }) => sha512.toString("hex")));
  return namesIn(join(core.store.directory, FOLDER)).filter((name) => !named.has(name));
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}

/** Whether another process is at work on a copy. */
const isBeingMade = (name: string) => isOtherRunning(Number(INCOMING.exec(name)?.[1]));
