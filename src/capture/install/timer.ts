/**
 * The optional timer of the operating system that looks every 15 minutes for what no hook has reported. Not here: what runs then.
 */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { shellQuoted } from "../../kit/strings.ts";
import { programPath } from "./find.ts";
import { type Change, type HookState, type InstallTarget, SettingsError } from "./installer.ts";
import { applyEdit, type Edit, planEdit, readSettings } from "./settings-file.ts";
import {
  createTask,
  LAUNCHD_LABEL,
  launchAgent,
  SYSTEMD_UNIT,
  systemdService,
  systemdTimer,
  TASK_NAME,
  type TimerCommand,
} from "./timer-files.ts";

export type { TimerCommand } from "./timer-files.ts";

/** The system cannot run a timer for this person; the message says what to do instead. Nothing was changed. */
export class TimerError extends Error {
  override readonly name = "TimerError";
}

/** A timer of one of the systems, with the same verbs as an agent's hook. */
interface System {
  /** The files it is described by, with their contents. */
  files(machine: InstallTarget, command: TimerCommand): [file: string, content: string][];
  /** A program and its arguments that succeed where the system can do it; tried before anything is written. */
  readonly probe: readonly string[];
  readonly start: (machine: InstallTarget, command: TimerCommand) => string[][];
  readonly stop: (machine: InstallTarget) => string[][];
  /** Succeeds while the timer is on. */
  readonly query: readonly string[];
}

const MAX_MS = 30_000;
/** A word in every file of ours. A file of the same name without it is another's, and left alone. */
const MARK = /reckon/i;

const configFolder = ({ home, env }: InstallTarget) => env.XDG_CONFIG_HOME || join(home, ".config");
const systemctl = (...args: string[]) => ["systemctl", "--user", ...args];
const guiDomain = () => `gui/${process.getuid?.() ?? 0}`;
const plistFile = ({ home }: InstallTarget) => join(home, "Library", "LaunchAgents", `${LAUNCHD_LABEL}.plist`);

const SYSTEMS: Readonly<Record<string, System>> = {
  linux: {
    files: (machine, command) => {
      const folder = join(configFolder(machine), "systemd", "user");
      return [
        [join(folder, `${SYSTEMD_UNIT}.service`), systemdService(command)],
        [join(folder, `${SYSTEMD_UNIT}.timer`), systemdTimer()],
      ];
    },
    probe: systemctl("show-environment"),
    start: () => [systemctl("daemon-reload"), systemctl("enable", "--now", `${SYSTEMD_UNIT}.timer`)],
    stop: () => [systemctl("disable", "--now", `${SYSTEMD_UNIT}.timer`)],
    query: systemctl("is-active", "--quiet", `${SYSTEMD_UNIT}.timer`),
  },
  darwin: {
    files: (machine, command) => [[plistFile(machine), launchAgent(command)]],
    probe: ["launchctl", "print", guiDomain()],
    start: (machine) => [["launchctl", "bootstrap", guiDomain(), plistFile(machine)]],
    stop: () => [["launchctl", "bootout", `${guiDomain()}/${LAUNCHD_LABEL}`]],
    query: ["launchctl", "print", `${guiDomain()}/${LAUNCHD_LABEL}`],
  },
  win32: {
    files: () => [],
    probe: ["schtasks", "/query", "/fo", "list"],
    start: (_machine, command) => [["schtasks", ...createTask(command)]],
    stop: () => [["schtasks", "/delete", "/f", "/tn", TASK_NAME]],
    query: ["schtasks", "/query", "/tn", TASK_NAME],
  },
};

/** What `installTimer` would write. Writes nothing; on Windows a task is made without any file. @throws SettingsError */
export function planTimer(machine: InstallTarget, command: TimerCommand): Change[] {
  return editsOf(machine, command).flatMap((edit) => planEdit(machine, edit));
}

/**
 * Writes the timer and switches it on; again over an older one.
 * @returns the files it changed
 * @throws TimerError when the system has no timers for this person; SettingsError when a file cannot be written
 */
export function installTimer(machine: InstallTarget, command: TimerCommand): Change[] {
  const system = systemOf(machine, command);
  if (!succeeds(machine, system.probe)) throw noTimer(machine, command);
  const isRunning = succeeds(machine, system.query);
  const changes = editsOf(machine, command).flatMap((edit) => applyEdit(machine, edit, false));
  if (isRunning && changes.length === 0 && machine.platform !== "win32") return changes;
  if (isRunning && machine.platform === "darwin") for (const call of system.stop(machine)) succeeds(machine, call);
  for (const call of system.start(machine, command))
    if (!succeeds(machine, call)) throw new TimerError(`"${call.join(" ")}" failed: the timer is written, but not on.`);
  return changes;
}

/** Switches the timer off and takes its files away. @returns the files it changed @throws SettingsError */
export function removeTimer(machine: InstallTarget): Change[] {
  const system = SYSTEMS[machine.platform];
  if (!system) return [];
  if (succeeds(machine, system.query)) for (const call of system.stop(machine)) succeeds(machine, call);
  // In reverse: the backup of the file that was written first lists the folders that were made.
  const changes = editsOf(machine, undefined)
    .toReversed()
    .flatMap((edit) => applyEdit(machine, edit, true));
  if (changes.length > 0 && machine.platform === "linux") succeeds(machine, systemctl("daemon-reload"));
  return changes;
}

/** @throws SettingsError when a file cannot be read */
export function timerState(machine: InstallTarget, command: TimerCommand): HookState {
  const system = systemOf(machine, command);
  const files = system.files(machine, command).map(([file, content]) => ({ text: readSettings(file), content }));
  const isOn = succeeds(machine, system.query);
  if (files.length === 0 ? !isOn : files.every(({ text }) => text === undefined))
    return { state: "absent", message: "No timer looks for sessions." };
  if (files.some(({ text, content }) => text !== content))
    return {
      state: "outdated",
      message: 'The timer is of another version or place: "reckon agent connect --timer" renews it.',
    };
  if (!isOn)
    return {
      state: "disabled",
      message: 'The timer is written, but not on: "reckon agent connect --timer" turns it on.',
    };
  return { state: "installed", message: "A timer looks for sessions every 15 minutes." };
}

/** @param command what the timer runs; undefined: the files go */
function editsOf(machine: InstallTarget, command: TimerCommand | undefined): Edit[] {
  const files = SYSTEMS[machine.platform]?.files(machine, command ?? { argv: [], env: {} }) ?? [];
  return files.map(([file, content]) => ({
    file,
    isOurs: (text) => MARK.test(text),
    change(text) {
      if (text === undefined || MARK.test(text)) return command && content;
      if (!command) return text;
      throw new SettingsError(file, "the name is taken by a file that is not of Reckon");
    },
  }));
}

function systemOf(machine: InstallTarget, command: TimerCommand): System {
  const system = SYSTEMS[machine.platform];
  if (!system) throw noTimer(machine, command);
  return system;
}

function noTimer({ platform }: InstallTarget, { argv, env }: TimerCommand): TimerError {
  const reason =
    platform === "linux" ? "systemd has no session for this user" : "this system has no timers for this user";
  const variables = Object.entries(env).map(([name, value]) => `${name}=${cronWord(value)}`);
  const line = ["*/15 * * * *", ...variables, ...argv.map(cronWord)].join(" ");
  return new TimerError(`${reason}. Run this every 15 minutes by other means, cron for example: ${line}`);
}

/** A word for the shell, in a crontab, where a bare `%` ends the line (crontab(5)). */
const cronWord = (text: string) => (/^[\w./:,@+-]+$/.test(text) ? text : shellQuoted(text).replaceAll("%", "\\%"));

/** Runs a program of the system, with the machine's own variables, and tells whether it succeeded. */
function succeeds(machine: InstallTarget, [name = "", ...args]: readonly string[]): boolean {
  const program = programPath(machine, name);
  if (program === undefined) return false;
  return (
    spawnSync(program, args, { env: machine.env, stdio: "ignore", timeout: MAX_MS, windowsHide: true }).status === 0
  );
}
