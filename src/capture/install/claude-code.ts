import { join } from "node:path";
import { AGENT_FOLDERS } from "../agent-folders.ts";
import { type JsonAgent, jsonInstaller } from "./json-installer.ts";
import { nodeAt } from "./json-tree.ts";

/** Seconds. A SessionEnd hook without one is ended after 1.5. */
const TIMEOUT = 10;

const folder = AGENT_FOLDERS["claude-code"];

export const claudeCode: JsonAgent = {
  agent: "claude-code",
  name: "Claude Code",
  settings: (machine) => join(folder(machine), "settings.json"),
  folders: (machine) => [folder(machine)],
  programs: ["claude"],
  // With comments or a trailing comma, it runs without its settings and says so only in its own status.
  dialect: { comments: false, trailingCommas: false, byteOrderMark: true },
  events: ["SessionStart", "Stop", "PreCompact", "SessionEnd"],
  entry: (command) => ({ hooks: [{ type: "command", command, timeout: TIMEOUT }] }),
  frame: {},
  disabled: (settings) =>
    nodeAt(settings, ["disableAllHooks"])?.value === true
      ? 'Claude Code calls no hooks: take "disableAllHooks" out of its settings.'
      : undefined,
};

export const claudeCodeInstaller = jsonInstaller(claudeCode);
