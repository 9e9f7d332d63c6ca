import { existsSync, mkdirSync, readdirSync, rmdirSync, rmSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";

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
});
export type Places = ReturnType<typeof placesIn>;

/** Makes the folder, for its owner alone. @throws Error when it is another user's */
export function makeHome({ home, spool, briefings, backups }: Places): void {
  for (const folder of [home, spool, briefings, backups]) mkdirSync(folder, { recursive: true, mode: 0o700 });
  const uid = process.getuid?.();
  if (uid !== undefined && statSync(home).uid !== uid) throw new Error(`${home} belongs to another user`);
}

/** What SQLite keeps beside a database, and what is left of a file that was being written. */
const BESIDE = /^\.(?:credentials\.json|hook)\.\d+\.tmp$|^(?:agent\.db|lock)-(?:wal|shm|journal)$/;

/** Removes what the client keeps, and the folders that it made for that where they are empty then: a named one may be somebody's. */
export function removeHome({ home, ...own }: Places): void {
  // Another process may have removed it by now.
  for (const name of existsSync(home) ? readdirSync(home) : [])
    if (BESIDE.test(name)) rmSync(join(home, name), { force: true });
  for (const path of Object.values(own)) rmSync(path, { recursive: true, force: true });
  const around = dirname(home);
  try {
    rmdirSync(home);
    if (basename(around) === "reckon") rmdirSync(around);
  } catch {
    // It holds something else.
  }
}
