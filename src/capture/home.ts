import { existsSync, readdirSync, readFileSync, rmdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, isAbsolute, join } from "node:path";
import { makeFolder } from "../kit/files.ts";
import { systemErrorText } from "../kit/system-error.ts";

/** The machine that agents run on, as far as it is looked at. */
export interface Machine {
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
}

/**
 * The folder of the capture client's own files: `RECKON_AGENT_HOME`, else the platform's place for state (XDG Base Directory
 * Specification 0.8; Application Support; LocalAppData).
 * @throws Error where the variable names a folder that depends on where a program runs: hooks run in every folder
 */
export function agentHome({ home, env, platform }: Machine): string {
  const named = env.RECKON_AGENT_HOME;
  if (named && !isAbsolute(named))
    throw new Error(`RECKON_AGENT_HOME is "${named}": it has to be a whole path, which begins at the root`);
  if (named) return named;
  if (platform === "darwin") return join(home, "Library", "Application Support", "reckon", "agent");
  if (platform === "win32") return join(env.LOCALAPPDATA ?? join(home, "AppData", "Local"), "reckon", "agent");
  const state = env.XDG_STATE_HOME;
  return join(state?.startsWith("/") ? state : join(home, ".local", "state"), "reckon", "agent");
}

/** The files in the client's folder. */
export const placesIn = (home: string) => ({
  home,
  database: join(home, "agent.db"),
  spool: join(home, "spool"),
  credentials: join(home, "credentials.json"),
  lock: join(home, "lock"),
  briefings: join(home, "briefings"),
  hook: join(home, "hook"),
  backups: join(home, "settings"),
  /** Lists the folders above `home` that were made together with it. */
  around: join(home, "around.json"),
});
export type Places = ReturnType<typeof placesIn>;

/**
 * With sudo a command runs as root, on some systems in the caller's home folder. Files that it made there would be root's, and closed to
 * the person whose transcripts are read.
 * @throws Error saying so
 */
export function mustBeAtHome({ home, env }: Machine): void {
  const caller = Number(env.SUDO_UID || 0);
  if (process.getuid?.() === 0 && caller !== 0 && statSync(home, { throwIfNoEntry: false })?.uid === caller)
    throw new Error(`${home} is not root's home folder: run this without sudo`);
}

/** Makes the folder, for its owner alone. @throws Error when it cannot be made, or is another user's */
export function makeHome({ home, spool, briefings, backups, around }: Places): void {
  const missing = missingAbove(home);
  try {
    for (const folder of [home, spool, briefings, backups]) makeFolder(folder, () => {});
  } catch (error) {
    // As in a container, whose user may have no home folder.
    throw new Error(`${home}: ${systemErrorText(error) ?? error}; name another folder with RECKON_AGENT_HOME`);
  }
  const uid = process.getuid?.();
  if (uid !== undefined && statSync(home).uid !== uid) throw new Error(`${home} belongs to another user`);
  if (missing.length > 0) writeFileSync(around, JSON.stringify(missing), { mode: 0o600 });
}

/** The missing folders above a folder, from the innermost. */
function missingAbove(folder: string): string[] {
  const above = dirname(folder);
  return existsSync(above) ? [] : [above, ...missingAbove(above)];
}

/** Files that SQLite keeps beside a database, and leftovers of files that were being written. */
const BESIDE = /^\.(?:credentials\.json|hook)\.\d+\.tmp$|^(?:agent\.db|lock)-(?:wal|shm|journal)$/;

/** Removes the client's files, and those folders made for them that are empty then: a folder that somebody named may hold other things. */
export function removeHome(places: Places): void {
  const { home, ...own } = places;
  const made = madeAround(places);
  // Another process may have removed it by now.
  for (const name of existsSync(home) ? readdirSync(home) : [])
    if (BESIDE.test(name)) rmSync(join(home, name), { force: true });
  for (const path of Object.values(own)) rmSync(path, { recursive: true, force: true });
  try {
    for (const folder of [home, ...made]) rmdirSync(folder);
  } catch {
    // It holds something else.
  }
}

/** The folders above `home` that were made together with it, from the innermost. */
function madeAround({ home, around }: Places): string[] {
  try {
    return JSON.parse(readFileSync(around, "utf8"));
  } catch {
    // There is no list: a folder of our name counts as ours.
    return basename(dirname(home)) === "reckon" ? [dirname(home)] : [];
  }
}
