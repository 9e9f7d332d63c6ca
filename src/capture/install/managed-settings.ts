import { posix, win32 } from "node:path";
import { claudeCode } from "./claude-code.ts";
import { codex } from "./codex.ts";
import { copilotHooks } from "./copilot-cli.ts";
import { cursor } from "./cursor.ts";
import { geminiCli } from "./gemini-cli.ts";
import type { HookForm } from "./hook-text.ts";
import type { AgentId, HookCommand } from "./installer.ts";
import { opencodePlugin } from "./opencode.ts";

/** A file that an administrator rolls out, or merges into the one that is there. */
export interface ManagedFile {
  readonly file: string;
  readonly content: string;
}

type System = "linux" | "darwin" | "win32";

/** Where each agent reads what holds for all users of a machine. Missing: no such place is known. */
const FOLDERS: Readonly<Record<AgentId, Partial<Record<System, string>>>> = {
  "claude-code": {
    linux: "/etc/claude-code",
    darwin: "/Library/Application Support/ClaudeCode",
    win32: "C:\\Program Files\\ClaudeCode",
  },
  codex: { linux: "/etc/codex", darwin: "/etc/codex" },
  "gemini-cli": {
    linux: "/etc/gemini-cli",
    darwin: "/Library/Application Support/GeminiCli",
    win32: "C:\\ProgramData\\gemini-cli",
  },
  opencode: {
    linux: "/etc/opencode",
    darwin: "/Library/Application Support/opencode",
    win32: "C:\\ProgramData\\opencode",
  },
  "copilot-cli": { linux: "/etc/github-copilot/policy.d" },
  cursor: { linux: "/etc/cursor", darwin: "/Library/Application Support/Cursor", win32: "C:\\ProgramData\\Cursor" },
};

/**
 * The files that put one agent's hook into effect for every user of a machine; none where the system has no place for them.
 * @param hook its command line has to hold for all users; it runs as the user who runs the agent
 */
export function managedSettings(agent: AgentId, system: System, hook: HookCommand): ManagedFile[] {
  const folder = FOLDERS[agent][system];
  if (folder === undefined) return [];
  const { join } = system === "win32" ? win32 : posix;
  const at = (name: string, content: string) => ({ file: join(folder, name), content });
  switch (agent) {
    case "claude-code":
      return [at("managed-settings.json", jsonOf(claudeCode, hook))];
    case "codex":
      // Hooks that stand here need nobody's trust.
      return [at("requirements.toml", codex.events.map((event) => codexTable(event, hook)).join("\n"))];
    case "gemini-cli":
      return [at("settings.json", jsonOf(geminiCli, hook))];
    case "opencode":
      return opencodeFiles(at, hook);
    case "copilot-cli":
      return [at("reckon.json", json(copilotHooks({ platform: system }, hook)))];
    case "cursor":
      return [at("hooks.json", jsonOf(cursor, hook))];
  }
}

const json = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`;

function jsonOf(form: HookForm, hook: HookCommand): string {
  const hooks = form.events.map((event) => [event, [form.entry(hook.line(form.agent, event))]]);
  return json({ ...form.frame, hooks: Object.fromEntries(hooks) });
}

/** opencode looks for no plugins in these folders: its settings have to name ours. */
function opencodeFiles(at: (name: string, content: string) => ManagedFile, hook: HookCommand): ManagedFile[] {
  const plugin = at("reckon.js", opencodePlugin(hook));
  const path = plugin.file.replaceAll("\\", "/");
  const address = new URL(`file://${path.startsWith("/") ? "" : "/"}${path}`).href;
  return [plugin, at("opencode.json", json({ plugin: [address] }))];
}

function codexTable(event: string, hook: HookCommand): string {
  const [handler = {}] = codex.entry(hook.line("codex", event)).hooks as Record<string, unknown>[];
  const members = Object.entries(handler).map(([name, value]) => `${name} = ${JSON.stringify(value)}\n`);
  return `[[hooks.${event}]]\n[[hooks.${event}.hooks]]\n${members.join("")}`;
}
