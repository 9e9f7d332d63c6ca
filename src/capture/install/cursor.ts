import { join } from "node:path";
import { AGENT_FOLDERS } from "../agent-folders.ts";
import { type JsonAgent, jsonInstaller } from "./json-installer.ts";

/** Seconds. */
const TIMEOUT = 10;

export const cursor: JsonAgent = {
  agent: "cursor",
  name: "Cursor",
  settings: (machine) => join(AGENT_FOLDERS.cursor(machine), "hooks.json"),
  folders: (machine) => [AGENT_FOLDERS.cursor(machine)],
  programs: ["cursor", "cursor-agent"],
  // What Cursor accepts is documented nowhere, so whatever stands in a file is kept.
  dialect: { comments: true, trailingCommas: true, byteOrderMark: true },
  events: ["sessionStart", "afterFileEdit", "stop", "sessionEnd"],
  entry: (command) => ({ command, timeout: TIMEOUT }),
  frame: { version: 1 },
  disabled: () => undefined,
};

export const cursorInstaller = jsonInstaller(cursor);
