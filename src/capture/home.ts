import { mkdirSync, statSync } from "node:fs";
import { join } from "node:path";

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
