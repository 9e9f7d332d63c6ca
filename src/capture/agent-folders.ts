import { join } from "node:path";
import type { Machine } from "./home.ts";

type Folder = (machine: Pick<Machine, "home" | "env">) => string;

/** Where each agent keeps what is its own on a machine: transcripts, and with most of them their settings. */
export const AGENT_FOLDERS = {
  "claude-code": ({ home, env }) => env.CLAUDE_CONFIG_DIR || join(home, ".claude"),
  codex: ({ home, env }) => env.CODEX_HOME || join(home, ".codex"),
  "gemini-cli": ({ home, env }) => join(env.GEMINI_CLI_HOME || home, ".gemini"),
  "copilot-cli": ({ home, env }) => env.COPILOT_HOME || join(home, ".copilot"),
  cursor: ({ home }) => join(home, ".cursor"),
  opencode: ({ home, env }) => join(env.XDG_DATA_HOME || join(home, ".local", "share"), "opencode"),
} satisfies Readonly<Record<string, Folder>>;
