import { join } from "node:path";
import { AGENT_FOLDERS } from "../agent-folders.ts";
import type { HookCommand, InstallTarget } from "./installer.ts";
import { nodeAt, parseTree } from "./json-tree.ts";
import { ownFileInstaller } from "./own-file.ts";
import { readSettings } from "./settings-file.ts";

const EVENTS = ["sessionStart", "agentStop", "sessionEnd"];
/** Seconds. */
const TIMEOUT = 10;

const folder = AGENT_FOLDERS["copilot-cli"];

/** The content of a file of hooks; it is run by PowerShell on Windows and by bash elsewhere. */
export function copilotHooks(
  { platform }: Pick<InstallTarget, "platform">,
  hook: HookCommand,
): Record<string, unknown> {
  const shell = platform === "win32" ? "powershell" : "bash";
  const hooks = EVENTS.map((event) => [
    event,
    [{ type: "command", [shell]: hook.line("copilot-cli", event), timeoutSec: TIMEOUT }],
  ]);
  return { version: 1, hooks: Object.fromEntries(hooks) };
}

export const copilotCliInstaller = ownFileInstaller({
  agent: "copilot-cli",
  name: "Copilot CLI",
  file: (machine) => join(folder(machine), "hooks", "reckon.json"),
  folders: (machine) => [folder(machine)],
  programs: ["copilot"],
  content: (machine, hook) => `${JSON.stringify(copilotHooks(machine, hook), null, 2)}\n`,
  isOurs: (text, hook) =>
    [...text.matchAll(/"(?:bash|powershell)": ?("(?:[^"\\\n]|\\.)*")/g)].some(([, line = '""']) =>
      hook.owns(JSON.parse(line) as string),
    ),
  disabled(machine) {
    const file = join(folder(machine), "settings.json");
    const text = readSettings(file);
    if (!text?.trim()) return undefined;
    const settings = parseTree(file, text, { comments: true, trailingCommas: true, byteOrderMark: true });
    return nodeAt(settings, ["disableAllHooks"])?.value === true
      ? `Copilot CLI calls no hooks: take "disableAllHooks" out of ${file}.`
      : undefined;
  },
});
