import { type Dirent, readdirSync } from "node:fs";
import { join } from "node:path";
import { asObject, asText, parseJson } from "../../formats/values.ts";
import { AGENT_FOLDERS } from "../agent-folders.ts";
import { endOfFile } from "../git.ts";
import type { Machine } from "../home.ts";
import { type Sign, signOfDatabase, signOfFile } from "./signs.ts";

/** A transcript on this machine. */
export interface Found {
  readonly agent: string;
  readonly path: string;
  /** Below its agent's folder, with `/` between. */
  readonly place: string;
  /** The folder that the agent worked in, where the store says it instead of the transcript. */
  readonly cwd?: string | undefined;
}

type OnUnreadable = (folder: string, error: unknown) => void;

/** Where an agent keeps its transcripts. */
export interface TranscriptStore {
  readonly agent: string;
  /** Whether it is a database, which is read by rows, instead of files. */
  readonly isDatabase?: boolean;
  /** What tells whether a transcript was written to. */
  readonly signOf: (path: string) => Sign | undefined;
  root(machine: Machine): string;
  /** @param onUnreadable told of folders that are there and cannot be read */
  list(root: string, onUnreadable?: OnUnreadable): Found[];
}

/** More folders below each other than any agent makes. */
const MAX_DEPTH = 6;

/** The files below a folder whose names match; links are not followed. */
function walk(root: string, below: string, name: RegExp, onUnreadable?: OnUnreadable, depth = MAX_DEPTH): string[] {
  const folder = join(root, below);
  let entries: Dirent[];
  try {
    entries = readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    // Most agents are not on every machine.
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") onUnreadable?.(folder, error);
    return [];
  }
  return entries.flatMap((entry) => {
    const path = below === "" ? entry.name : `${below}/${entry.name}`;
    if (entry.isDirectory()) return depth > 0 ? walk(root, path, name, onUnreadable, depth - 1) : [];
    return entry.isFile() && name.test(path) ? [path] : [];
  });
}

const files =
  (agent: string, folders: readonly string[], name: RegExp): TranscriptStore["list"] =>
  (root, onUnreadable) =>
    folders.flatMap((folder) =>
      walk(root, folder, name, onUnreadable).map((place) => ({ agent, path: join(root, place), place })),
    );

const claudeCode: TranscriptStore = {
  agent: "claude-code",
  signOf: signOfFile,
  root: AGENT_FOLDERS["claude-code"],
  list: files("claude-code", ["projects"], /\.jsonl$/),
};

const codex: TranscriptStore = {
  agent: "codex",
  signOf: signOfFile,
  root: AGENT_FOLDERS.codex,
  list: files("codex", ["sessions", "archived_sessions"], /\/rollout-[^/]*\.jsonl(?:\.zst)?$/),
};

const geminiCli: TranscriptStore = {
  agent: "gemini-cli",
  signOf: signOfFile,
  root: AGENT_FOLDERS["gemini-cli"],
  list(root, onUnreadable) {
    const folders = projectsOf(root);
    return files(
      "gemini-cli",
      ["tmp"],
      /\/chats\/(?:session-[^/]*|[^/]+\/[^/]+)\.jsonl?$/,
    )(root, onUnreadable).map((found) => ({
      ...found,
      cwd: folders.get(found.place.split("/")[1] ?? ""),
    }));
  },
};

/** The folders of Gemini CLI's projects, by the names that its store gives them. */
function projectsOf(root: string): ReadonlyMap<string, string> {
  try {
    const { projects } = asObject(parseJson(endOfFile(join(root, "projects.json"))));
    return new Map(
      Object.entries(asObject(projects)).flatMap(([path, name]) => (asText(name) ? [[name as string, path]] : [])),
    );
  } catch {
    return new Map();
  }
}

const copilotCli: TranscriptStore = {
  agent: "copilot-cli",
  signOf: signOfFile,
  root: AGENT_FOLDERS["copilot-cli"],
  list: files("copilot-cli", ["session-state"], /\/events\.jsonl$/),
};

const cursor: TranscriptStore = {
  agent: "cursor",
  signOf: signOfFile,
  root: AGENT_FOLDERS.cursor,
  list: files("cursor", ["projects"], /\/agent-transcripts\/[^/]+\/(?:subagents\/)?[^/]+\.jsonl$/),
};

const opencode: TranscriptStore = {
  agent: "opencode",
  isDatabase: true,
  signOf: signOfDatabase,
  root: AGENT_FOLDERS.opencode,
  list: (root) => [{ agent: "opencode", path: join(root, "opencode.db"), place: "opencode.db" }],
};

export const STORES: readonly TranscriptStore[] = [claudeCode, codex, geminiCli, opencode, copilotCli, cursor];
