import { claudeCode } from "./claude-code.ts";
import { codex } from "./codex.ts";
import { copilotHooks } from "./copilot-cli.ts";
import { cursor } from "./cursor.ts";
import { geminiCli } from "./gemini-cli.ts";
import type { HookForm } from "./hook-text.ts";
import type { AgentId, HookCommand } from "./installer.ts";
import { opencodePlugin } from "./opencode.ts";

/** What an administrator rolls out so that every machine of a fleet has the hook. */
export interface ManagedSettings {
  /** Where the file goes, by system. */
  readonly files: Partial<Record<"linux" | "darwin" | "win32", string>>;
  /** The file's content, or what is to be merged into one that is there. */
  readonly content: string;
}

/**
 * The settings that put one agent's hook into effect for every user of a machine.
 * @param hook its command line has to hold for all users; it runs as the user who runs the agent
 */
export function managedSettings(agent: AgentId, platform: NodeJS.Platform, hook: HookCommand): ManagedSettings {
  return MANAGED[agent](hook, platform);
}

type Maker = (hook: HookCommand, platform: NodeJS.Platform) => ManagedSettings;

const json = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`;
const hooksOf = (form: HookForm, hook: HookCommand) =>
  Object.fromEntries(form.events.map((event) => [event, [form.entry(hook.line(form.agent, event))]]));
const jsonOf = (form: HookForm, hook: HookCommand) => json({ ...form.frame, hooks: hooksOf(form, hook) });

const MANAGED: Readonly<Record<AgentId, Maker>> = {
  "claude-code": (hook) => ({
    files: {
      linux: "/etc/claude-code/managed-settings.json",
      darwin: "/Library/Application Support/ClaudeCode/managed-settings.json",
      win32: "C:\\Program Files\\ClaudeCode\\managed-settings.json",
    },
    content: jsonOf(claudeCode, hook),
  }),
  // Hooks that stand here need nobody's trust.
  codex: (hook) => ({
    files: { linux: "/etc/codex/requirements.toml", darwin: "/etc/codex/requirements.toml" },
    content: codex.events.map((event) => codexTable(event, hook)).join("\n"),
  }),
  "gemini-cli": (hook) => ({
    files: {
      linux: "/etc/gemini-cli/settings.json",
      darwin: "/Library/Application Support/GeminiCli/settings.json",
      win32: "C:\\ProgramData\\gemini-cli\\settings.json",
    },
    content: jsonOf(geminiCli, hook),
  }),
  opencode: (hook) => ({
    files: {
      linux: "/etc/opencode/plugin/reckon.js",
      darwin: "/Library/Application Support/opencode/plugin/reckon.js",
      win32: "C:\\ProgramData\\opencode\\plugin\\reckon.js",
    },
    content: opencodePlugin(hook),
  }),
  "copilot-cli": (hook, platform) => ({
    files: { linux: "/etc/github-copilot/policy.d/reckon.json" },
    content: json(copilotHooks({ platform }, hook)),
  }),
  cursor: (hook) => ({
    files: {
      linux: "/etc/cursor/hooks.json",
      darwin: "/Library/Application Support/Cursor/hooks.json",
      win32: "C:\\ProgramData\\Cursor\\hooks.json",
    },
    content: jsonOf(cursor, hook),
  }),
};

function codexTable(event: string, hook: HookCommand): string {
  const [handler] = codex.entry(hook.line("codex", event)).hooks as Record<string, unknown>[];
  const members = Object.entries(handler ?? {}).map(([name, value]) => `${name} = ${JSON.stringify(value)}\n`);
  return `[[hooks.${event}]]\n[[hooks.${event}.hooks]]\n${members.join("")}`;
}
