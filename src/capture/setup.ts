import { rmSync } from "node:fs";
import { ask } from "./client.ts";
import type { Places } from "./home.ts";
import { hookCommand, writeHookScript } from "./hook.ts";
import {
  type Change,
  type HookState,
  INSTALLERS,
  type Installer,
  type Machine as Settings,
  SettingsError,
} from "./install/agents.ts";
import { type Found, STORES } from "./sources/stores.ts";
import type { Capture } from "./state.ts";

/** An agent of this machine, and what connecting would change for it. */
export interface FoundAgent {
  readonly agent: string;
  readonly name: string;
  /** Its transcripts that were written to since then, and their size. */
  readonly transcripts: number;
  readonly bytes: number;
  readonly changes: readonly Change[];
  /** Why its settings are left alone; its transcripts are read all the same. */
  readonly problem: string | undefined;
}

type Here = Pick<Capture, "machine" | "places">;

const settingsOf = ({ machine, places }: Here): Settings => ({ ...machine, backups: places.backups });

/** The agents of this machine that are meant, in the order in which people are shown them. @param since milliseconds since the epoch */
export function findAgents(here: Here, since: number, only?: readonly string[]): FoundAgent[] {
  const settings = settingsOf(here);
  const hook = hookCommand(here.machine, here.places);
  return INSTALLERS.filter(({ agent }) => only?.includes(agent) ?? true).flatMap((installer) => {
    const found = transcriptsOf(here, installer.agent, since);
    // Who names an agent means it, whether it stands here yet or not.
    if (!only && !installer.find(settings) && found.count === 0) return [];
    const { agent, name } = installer;
    return [
      { agent, name, transcripts: found.count, bytes: found.bytes, ...planOf(() => installer.plan(settings, hook)) },
    ];
  });
}

function planOf(plan: () => readonly Change[]): Pick<FoundAgent, "changes" | "problem"> {
  try {
    return { changes: plan(), problem: undefined };
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    return { changes: [], problem: error.message };
  }
}

function transcriptsOf({ machine }: Here, agent: string, since: number): { count: number; bytes: number } {
  const store = STORES.find((one) => one.agent === agent);
  const signs = (store?.list(store.root(machine)) ?? [])
    .map((found: Found) => store?.signOf(found.path))
    .filter((sign) => sign !== undefined && sign.modified >= since);
  return { count: signs.length, bytes: signs.reduce((sum, sign) => sum + (sign?.size ?? 0), 0) };
}

/** Puts one hook into the settings of each agent. @returns what changed, and what could not be */
export function installHooks(here: Here, agents: readonly string[]): { changed: Change[]; problems: string[] } {
  writeHookScript(here.machine, here.places);
  return each(agents, (installer) => installer.install(settingsOf(here), hookCommand(here.machine, here.places)));
}

/** Takes out of every agent's settings what is ours. */
export function removeHooks(here: Here): { changed: Change[]; problems: string[] } {
  const all = INSTALLERS.map(({ agent }) => agent);
  return each(all, (installer) => installer.remove(settingsOf(here), hookCommand(here.machine, here.places)));
}

function each(agents: readonly string[], change: (installer: Installer) => readonly Change[]) {
  const changed: Change[] = [];
  const problems: string[] = [];
  for (const installer of INSTALLERS.filter(({ agent }) => agents.includes(agent))) {
    try {
      changed.push(...change(installer));
    } catch (error) {
      if (!(error instanceof SettingsError)) throw error;
      problems.push(error.message);
    }
  }
  return { changed, problems };
}

/** How each agent's hook stands. */
export function hookStates(here: Here): ({ readonly agent: string; readonly name: string } & HookState)[] {
  const hook = hookCommand(here.machine, here.places);
  return INSTALLERS.filter((installer) => installer.find(settingsOf(here))).map((installer) => {
    const { agent, name } = installer;
    try {
      return { agent, name, ...installer.state(settingsOf(here), hook) };
    } catch (error) {
      return { agent, name, state: "disabled", message: String((error as Error).message) };
    }
  });
}

/** Ends the binding on the server. @returns why that could not be said to it; undefined when it was */
export async function unbind(url: string, token: string): Promise<string | undefined> {
  const answer = await ask(url, "/api/connect/disconnect", { method: "POST", token });
  // A server that does not know the token has nothing to end.
  return answer.kind === "ok" || (answer.kind === "refused" && answer.status === 401) ? undefined : answer.reason;
}

/** Removes the client's own folder, with all that waits in it. */
export function removeHome({ home }: Places): void {
  rmSync(home, { recursive: true, force: true });
}
