/** The coding agents whose transcripts are read, an agent a file. */
import { claudeCode } from "./claude-code.ts";
import { codex } from "./codex.ts";
import { copilotCli } from "./copilot-cli.ts";
import { cursor } from "./cursor.ts";
import { geminiCli } from "./gemini-cli.ts";
import { opencode } from "./opencode.ts";
import type { AgentFormat } from "./transcript.ts";

export const AGENTS: readonly AgentFormat[] = [claudeCode, codex, copilotCli, cursor, geminiCli, opencode];
