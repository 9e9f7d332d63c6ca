import { join } from "node:path";
import { AGENT_FOLDERS } from "../agent-folders.ts";
import type { HookCommand, InstallTarget } from "./installer.ts";
import { ownFileInstaller } from "./own-file.ts";

const EVENTS = ["session.created", "session.idle"];
const MARK =
  "// Written by `reckon agent connect`, taken away by `reckon agent disconnect`. What is changed here gets lost.";

const folder = ({ home, env }: InstallTarget) => join(env.XDG_CONFIG_HOME || join(home, ".config"), "opencode");
const data = AGENT_FOLDERS.opencode;

/** A plugin that starts the command and forgets it: this agent has no hooks that run commands. */
export function opencodePlugin(hook: HookCommand): string {
  const commands = EVENTS.map((event) => [event, hook.line("opencode", event)]);
  return `import { spawn } from "node:child_process";

const COMMANDS = new Map(${JSON.stringify(commands, null, 2)});

export const Reckon = async ({ directory }) => ({
  event: async ({ event }) => {
    const command = COMMANDS.get(event?.type);
    if (command === undefined) return;
    try {
      const session_id = event.properties?.sessionID ?? event.properties?.info?.id;
      const child = spawn(command, { shell: true, detached: true, windowsHide: true, stdio: ["pipe", "ignore", "ignore"] });
      child.on("error", () => {});
      child.stdin.on("error", () => {});
      child.stdin.end(JSON.stringify({ session_id, cwd: directory, hook_event_name: event.type }));
      child.unref();
    } catch {}
  },
});
`;
}

export const opencodeInstaller = ownFileInstaller({
  agent: "opencode",
  name: "opencode",
  file: (machine) => join(folder(machine), "plugin", "reckon.js"),
  folders: (machine) => [folder(machine), data(machine)],
  programs: ["opencode"],
  content: (_machine, hook) => `${MARK}\n${opencodePlugin(hook)}`,
  isOurs: (text) => text.startsWith(MARK),
  disabled: () => undefined,
});
