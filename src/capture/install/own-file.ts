import { isPresent } from "./find.ts";
import { type AgentId, type HookCommand, type Installer, type InstallTarget, SettingsError } from "./installer.ts";
import { applyEdit, type Edit, planEdit, readSettings } from "./settings-file.ts";

/** An agent that reads every file of a folder: the hook has one of its own. */
export interface OwnFileAgent {
  readonly agent: AgentId;
  readonly name: string;
  /** The file that is ours. */
  file(machine: InstallTarget): string;
  folders(machine: InstallTarget): string[];
  readonly programs: readonly string[];
  content(machine: InstallTarget, hook: HookCommand): string;
  /** Whether a file of that name was written by us, of any version. */
  isOurs(text: string, hook: HookCommand): boolean;
  /** Why the agent does not call it, with what to do; undefined when it does. @throws SettingsError */
  disabled(machine: InstallTarget): string | undefined;
}

export function ownFileInstaller(spec: OwnFileAgent): Installer {
  const { agent, name } = spec;
  const edit = (machine: InstallTarget, hook: HookCommand, content: string | undefined): Edit => {
    const file = spec.file(machine);
    const isOurs = (text: string) => spec.isOurs(text, hook);
    return {
      file,
      isOurs,
      change(text) {
        if (text === undefined || isOurs(text)) return content;
        if (content === undefined) return text;
        throw new SettingsError(file, "the name is taken by a file that is not of Reckon");
      },
    };
  };
  const adding = (machine: InstallTarget, hook: HookCommand) => edit(machine, hook, spec.content(machine, hook));
  return {
    agent,
    name,
    find: (machine) => isPresent(machine, spec.folders(machine), spec.programs),
    plan: (machine, hook) => planEdit(machine, adding(machine, hook)),
    install: (machine, hook) => applyEdit(machine, adding(machine, hook), false),
    remove: (machine, hook) => applyEdit(machine, edit(machine, hook, undefined), true),
    state(machine, hook) {
      const file = spec.file(machine);
      const text = readSettings(file);
      if (text === undefined || !spec.isOurs(text, hook))
        return {
          state: "absent",
          message: `${name} has no hook of Reckon: "reckon agent connect" alone writes ${file}.`,
        };
      if (text !== spec.content(machine, hook))
        return {
          state: "outdated",
          message: `${file} is of another version or place: "reckon agent connect" alone renews it.`,
        };
      const message = spec.disabled(machine);
      if (message !== undefined) return { state: "disabled", message };
      return { state: "installed", message: `${name} calls the hook of ${file}.` };
    },
  };
}
