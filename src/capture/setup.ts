import { helperCommand } from "../kit/respawn.ts";
import { hookCommand, hookForAll, whyHookIsIdle, writeHookScript } from "./hook.ts";
import { INSTALLERS, type Installer, type InstallTarget, SettingsError } from "./install/agents.ts";
import { machinesOf } from "./install/backups.ts";
import type { Change, HookState } from "./install/installer.ts";
import { type ManagedFile, managedSettings } from "./install/managed-settings.ts";
import { installTimer, planTimer, removeTimer, type TimerCommand, TimerError, timerState } from "./install/timer.ts";
import { type Found, STORES } from "./sources/stores.ts";
import type { Capture } from "./state.ts";

/** An agent of this machine, and what connecting would change for it. */
export interface FoundAgent {
  readonly agent: string;
  readonly name: string;
  /** Its transcripts that were written to since the given instant: how many, and bytes in all. */
  readonly transcripts: number;
  readonly bytes: number;
  readonly changes: readonly Change[];
  /** Why its settings are left alone; its transcripts are read all the same. */
  readonly problem: string | undefined;
}

type Here = Pick<Capture, "machine" | "places">;

const settingsOf = ({ machine, places }: Here): InstallTarget => ({ ...machine, backups: places.backups });

/**
 * The agents that are found on this machine, or those that are named, in the order in which people are shown them. @param since
 * milliseconds since the epoch
 */
export function findAgents(here: Here, since: number, only?: readonly string[]): FoundAgent[] {
  const settings = settingsOf(here);
  const hook = hookCommand(here.machine, here.places);
  return INSTALLERS.filter(({ agent }) => only?.includes(agent) ?? true).flatMap((installer) => {
    const found = transcriptsOf(here, installer.agent, since);
    // An agent that is named is set up even where it is not installed yet.
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

/** Takes our hooks out of every agent's settings, also of those that variables named at another time. */
export function removeHooks(here: Here): { changed: Change[]; problems: string[] } {
  const all = INSTALLERS.map(({ agent }) => agent);
  const hook = hookCommand(here.machine, here.places);
  const removeFrom = (target: InstallTarget) => each(all, (installer) => installer.remove(target, hook));
  const first = removeFrom(settingsOf(here));
  const others = machinesOf(settingsOf(here)).map(removeFrom);
  return {
    changed: [first, ...others].flatMap(({ changed }) => changed),
    problems: [...new Set([first, ...others].flatMap(({ problems }) => problems))],
  };
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

/** The files that put the hook of one agent, or of all, into effect for every person of a machine. */
export function managedFiles(system: "linux" | "darwin" | "win32", agent?: string): ManagedFile[] {
  return INSTALLERS.filter((one) => agent === undefined || one.agent === agent).flatMap((one) =>
    managedSettings(one.agent, system, hookForAll(system)),
  );
}

/** The state of the hook of each agent that is found, or of those that are named. */
export function hookStates(
  here: Here,
  only?: readonly string[],
): ({ readonly agent: string; readonly name: string } & HookState)[] {
  const hook = hookCommand(here.machine, here.places);
  const idle = whyHookIsIdle(here.machine, here.places);
  const meant = INSTALLERS.filter(({ agent, find }) => (only?.includes(agent) ?? true) && find(settingsOf(here)));
  return meant.map((installer) => {
    const { agent, name } = installer;
    try {
      const state = installer.state(settingsOf(here), hook);
      if (state.state !== "installed" || idle === undefined) return { agent, name, ...state };
      return {
        agent,
        name,
        state: "outdated",
        message: `${name} calls ${idle}: "reckon agent connect" alone renews it.`,
      };
    } catch (error) {
      return { agent, name, state: "disabled", message: String((error as Error).message) };
    }
  });
}

/** Variables that say where agents keep their files, and how the server is reached. */
const PASSED_ON = [
  "CLAUDE_CONFIG_DIR",
  "CODEX_HOME",
  "GEMINI_CLI_HOME",
  "COPILOT_HOME",
  "XDG_DATA_HOME",
  "HTTPS_PROXY",
  "https_proxy",
  "NO_PROXY",
  "no_proxy",
  "NODE_EXTRA_CA_CERTS",
];

/** The pass that the system's timer starts. */
function timerCommand({ machine, places }: Here): TimerCommand {
  const { file, args } = helperCommand("agent", ["run", "--background"]);
  const set = Object.entries(machine.env).filter(([name, value]) => PASSED_ON.includes(name) && value !== undefined);
  return {
    argv: [file, ...args],
    env: { ...(Object.fromEntries(set) as Record<string, string>), RECKON_AGENT_HOME: places.home },
  };
}

/** What switching the timer on would write. */
export function planTimerHere(here: Here): readonly Change[] {
  return planTimer(settingsOf(here), timerCommand(here));
}

/** Switches on a timer of the system that starts a pass every 15 minutes. @returns why it could not; nothing when it is on */
export function startTimer(here: Here): string[] {
  return explained(() => installTimer(settingsOf(here), timerCommand(here)));
}

/** @returns why it could not be taken away */
export function stopTimer(here: Here): string[] {
  return explained(() => removeTimer(settingsOf(here)));
}

export function timerStateHere(here: Here): HookState {
  return timerState(settingsOf(here), timerCommand(here));
}

function explained(change: () => unknown): string[] {
  try {
    change();
    return [];
  } catch (error) {
    if (error instanceof TimerError || error instanceof SettingsError) return [error.message];
    throw error;
  }
}
