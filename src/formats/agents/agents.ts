/**
 * The coding agents whose transcripts are read, an agent a file. Each reads a whole transcript as it lies on a developer's
 * machine; records that it does not know become steps of their own, so that nothing is lost.
 */
import { claudeCode } from "./claude-code.ts";
import { codex } from "./codex.ts";
import { copilotCli } from "./copilot-cli.ts";
import { geminiCli } from "./gemini-cli.ts";
import type { AgentFormat } from "./transcript.ts";

export const AGENTS: readonly AgentFormat[] = [claudeCode, codex, copilotCli, geminiCli];
