import { isPresent } from "./find.ts";
import { findHooks, type HookForm, isComplete, parseSettings, withHooks, withoutHooks } from "./hook-text.ts";
import type { AgentId, HookCommand, HookState, Installer, InstallTarget } from "./installer.ts";
import type { JsonNode } from "./json-tree.ts";
import { applyEdit, type Edit, planEdit, readSettings } from "./settings-file.ts";

/** An agent whose hooks stand in JSON settings of the person's own. */
export interface JsonAgent extends HookForm {
  readonly agent: AgentId;
  readonly name: string;
  /** The file with the hooks. */
  settings(machine: InstallTarget): string;
  /** Folders any one of which shows that the agent is installed. */
  folders(machine: InstallTarget): string[];
  /** Names of its program. */
  readonly programs: readonly string[];
  /** Why the agent does not call hooks that stand in its settings, with what to do; undefined when it does. */
  disabled(settings: JsonNode, machine: InstallTarget, hook: HookCommand): string | undefined;
}

export function jsonInstaller(spec: JsonAgent): Installer {
  const { agent, name } = spec;
  return {
    agent,
    name,
    find: (machine) => isPresent(machine, spec.folders(machine), spec.programs),
    plan: (machine, hook) => planEdit(machine, adding(spec, machine, hook)),
    install: (machine, hook) => applyEdit(machine, adding(spec, machine, hook), false),
    remove: (machine, hook) => applyEdit(machine, removing(spec, machine, hook), true),
    state: (machine, hook) => stateOf(spec, machine, hook),
  };
}

function adding(spec: JsonAgent, machine: InstallTarget, hook: HookCommand): Edit {
  const file = spec.settings(machine);
  return {
    file,
    isOurs: (text) => hasHooks(spec, file, text, hook),
    change(text, before) {
      if (
        text !== undefined &&
        text.trim() !== "" &&
        isComplete(findHooks(parseSettings(file, text, spec), spec, hook), spec)
      )
        return text;
      return withHooks(file, text, spec, hook, before);
    },
  };
}

function removing(spec: JsonAgent, machine: InstallTarget, hook: HookCommand): Edit {
  const file = spec.settings(machine);
  return {
    file,
    isOurs: () => true,
    change: (text, before) =>
      text === undefined || text.trim() === "" ? text : withoutHooks(file, text, spec, hook, before),
  };
}

const hasHooks = (spec: JsonAgent, file: string, text: string, hook: HookCommand) =>
  text.trim() !== "" && findHooks(parseSettings(file, text, spec), spec, hook).length > 0;

function stateOf(spec: JsonAgent, machine: InstallTarget, hook: HookCommand): HookState {
  const file = spec.settings(machine);
  const text = readSettings(file);
  const settings = text === undefined || text.trim() === "" ? undefined : parseSettings(file, text, spec);
  const found = settings ? findHooks(settings, spec, hook) : [];
  if (!settings || found.length === 0)
    return {
      state: "absent",
      message: `${spec.name} has no hook of Reckon in ${file}: "reckon agent connect" alone adds it.`,
    };
  if (!isComplete(found, spec))
    return {
      state: "outdated",
      message: `${spec.name} has a hook of another version or place in ${file}: "reckon agent connect" alone renews it.`,
    };
  const message = spec.disabled(settings, machine, hook);
  if (message !== undefined) return { state: "disabled", message };
  return { state: "installed", message: `${spec.name} calls the hook of ${file}.` };
}
