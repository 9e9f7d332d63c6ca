import type { Machine } from "../home.ts";

/** What the parts of this folder share: the machine, the command that is installed, and what an installer answers. */

/** The machine that agents run on, and where its settings are backed up. */
export interface InstallTarget extends Machine {
  /**
   * Folder of the capture client, mode 0700, for copies of settings from before it changed them. Not beside the settings: those hold keys,
   * and many people keep them in a repository, where a stray copy would be committed.
   */
  readonly backups: string;
}

/** The command that agents call. */
export interface HookCommand {
  /** A command line for the machine's shell, with the agent and its event as arguments. */
  line(agent: string, event: string): string;
  /** Whether a command line that stands in settings is one of ours, of any version, form or path. */
  owns(line: string): boolean;
}

export type AgentId = "claude-code" | "codex" | "gemini-cli" | "opencode" | "copilot-cli" | "cursor";

/** What happens, or would happen, to one file. */
export interface Change {
  readonly file: string;
  readonly kind: "create" | "edit" | "delete";
  /** Removed and added lines (unified format, without context: settings hold keys), for whoever is asked to consent. */
  readonly diff: string;
}

export interface HookState {
  /** `outdated`: ours, of another path or form. `disabled`: installed, and the agent is set not to call it. */
  readonly state: "installed" | "absent" | "outdated" | "disabled";
  /** A sentence for people, which says what to do unless all is well. */
  readonly message: string;
}

/** Puts the hook into one agent's settings and takes it out again. Each call reads the settings anew. */
export interface Installer {
  readonly agent: AgentId;
  /** For people: "Claude Code". */
  readonly name: string;
  /** Whether the agent is on this machine: its folder, or its program on PATH. */
  find(machine: InstallTarget): boolean;
  /** What `install` would change. Writes nothing. @throws SettingsError when settings cannot be read or parsed */
  plan(machine: InstallTarget, hook: HookCommand): Change[];
  /** @returns what it changed; nothing when all is in place already. @throws SettingsError as `plan`, or when they cannot be written */
  install(machine: InstallTarget, hook: HookCommand): Change[];
  /** Takes out what is ours and nothing else, whatever was edited meanwhile. @throws SettingsError as `install` */
  remove(machine: InstallTarget, hook: HookCommand): Change[];
  /** @throws SettingsError as `plan` */
  state(machine: InstallTarget, hook: HookCommand): HookState;
}

/** Settings that are left as they are, because they cannot be read, understood or written. */
export class SettingsError extends Error {
  override readonly name = "SettingsError";

  /** @param line 1-based, where there is one */
  constructor(file: string, reason: string, line?: number) {
    super(`${file}${line === undefined ? "" : `:${line}`}: ${reason}; it is left as it is`);
  }
}
