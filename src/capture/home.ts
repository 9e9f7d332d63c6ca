import { existsSync, readdirSync, readFileSync, rmdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
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
 */
export function agentHome({ home, env, platform }: Machine): string {
  const named = env.RECKON_AGENT_HOME;
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
  /** Names the folders around it that were made with it. */
  around: join(home, "around.json"),
});
export type Places = ReturnType<typeof placesIn>;

/**
 * With sudo a person's command runs as root, and on some systems in that person's home folder: what it made there would be root's, whom
 * no transcript belongs to.
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
    // As in a container, whose home folder is nobody's.
    throw new Error(`${home}: ${systemErrorText(error) ?? error}; name another folder with RECKON_AGENT_HOME`);
  }
  const uid = process.getuid?.();
  if (uid !== undefined && statSync(home).uid !== uid) throw new Error(`${home} belongs to another user`);
  if (missing.length > 0) writeFileSync(around, JSON.stringify(missing), { mode: 0o600 });
}

/** The folders above one that are not there, from the innermost. */
function missingAbove(folder: string): string[] {
  const above = dirname(folder);
  return existsSync(above) ? [] : [above, ...missingAbove(above)];
}

/** What SQLite keeps beside a database, and what is left of a file that was being written. */
const BESIDE = /^\.(?:credentials\.json|hook)\.\d+\.tmp$|^(?:agent\.db|lock)-(?:wal|shm|journal)$/;

/** Removes what the client keeps, and the folders that it made for that where they are empty then: a named one may be somebody's. */
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

/** The folders around it that were made with it, from the innermost. */
function madeAround({ home, around }: Places): string[] {
  try {
    return JSON.parse(readFileSync(around, "utf8"));
  } catch {
    // Not written down: one of our name is ours.
    return basename(dirname(home)) === "reckon" ? [dirname(home)] : [];
  }
}
