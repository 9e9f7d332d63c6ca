/**
 * The agents that the capture client finds on a machine, and the one hook that each gets: put into its settings without touching
 * another byte, and taken out again. Not here: what the hook does when it is called, and the timer (timer.ts).
 */
import { claudeCodeInstaller } from "./claude-code.ts";
import { codexInstaller } from "./codex.ts";
import { copilotCliInstaller } from "./copilot-cli.ts";
import { cursorInstaller } from "./cursor.ts";
import { geminiCliInstaller } from "./gemini-cli.ts";
import type { Installer } from "./installer.ts";
import { opencodeInstaller } from "./opencode.ts";

export type { HookCommand, Installer, InstallTarget } from "./installer.ts";
export { SettingsError } from "./installer.ts";

/** Every agent that is known, in the order in which people are shown them. */
export const INSTALLERS: readonly Installer[] = [
  claudeCodeInstaller,
  codexInstaller,
  geminiCliInstaller,
  opencodeInstaller,
  copilotCliInstaller,
  cursorInstaller,
];
