import { join } from "node:path";
import { AGENT_FOLDERS } from "../agent-folders.ts";
import type { HookCommand, InstallTarget } from "./installer.ts";
import { type JsonAgent, jsonInstaller } from "./json-installer.ts";
import { type JsonNode, nodeAt } from "./json-tree.ts";

/** Milliseconds, unlike everywhere else. */
const TIMEOUT = 10_000;

const folder = AGENT_FOLDERS["gemini-cli"];

export const geminiCli: JsonAgent = {
  agent: "gemini-cli",
  name: "Gemini CLI",
  settings: (machine) => join(folder(machine), "settings.json"),
  folders: (machine) => [folder(machine)],
  programs: ["gemini"],
  // With a trailing comma or a byte order mark, Gemini CLI does not even start.
  dialect: { comments: true, trailingCommas: false, byteOrderMark: false },
  events: ["SessionStart", "AfterAgent", "SessionEnd"],
  entry: (command) => ({ hooks: [{ type: "command", command, timeout: TIMEOUT }] }),
  frame: {},
  disabled(settings: JsonNode, _machine: InstallTarget, hook: HookCommand) {
    if (nodeAt(settings, ["hooksConfig", "enabled"])?.value === false)
      return "Gemini CLI calls no hooks: enter /hooks enable-all in it.";
    const off = nodeAt(settings, ["hooksConfig", "disabled"])?.value;
    if (Array.isArray(off) && off.some((command) => typeof command === "string" && hook.owns(command)))
      return "The hook of Reckon is switched off in Gemini CLI: enter /hooks enable-all in it.";
    return undefined;
  },
};

export const geminiCliInstaller = jsonInstaller(geminiCli);
