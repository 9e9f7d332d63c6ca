import { existsSync, mkdirSync, readFileSync, realpathSync, rmdirSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { writeFileAtomically } from "../../kit/files.ts";
import { commonDirectory } from "../git.ts";
import type { Places } from "../home.ts";

/*
 * Briefings as hooks print them. Below the folder of each agent the path of the work tree is repeated, with the file inside: so a shell
 * finds it by the name of its own folder, with built-in commands.
 */

/** A name that no agent and no person gives to a folder. */
export const BRIEFING_FILE = "reckon-briefing.json";

const asHookOutput = (text: string) => ({
  hookSpecificOutput: { hookEventName: "SessionStart", additionalContext: text },
});

/** What each agent takes from a hook's standard output at the start of a session; the others take nothing. */
const FORMS: Readonly<Record<string, (text: string) => unknown>> = {
  "claude-code": asHookOutput,
  codex: asHookOutput,
  "gemini-cli": asHookOutput,
  "copilot-cli": (text) => ({ additionalContext: text }),
  cursor: (text) => ({ additional_context: text }),
};

/** @param root absolute; a drive's letter is a folder like any other */
const folderOf = ({ briefings }: Places, agent: string, root: string) =>
  join(briefings, agent, root.replace(/^([A-Za-z]):/, "/$1").replaceAll("\\", "/"));

/** Lays a briefing ready for the agents that start in a work tree. An empty one is taken away. */
export function layReady(places: Places, root: string, text: string): void {
  for (const [agent, form] of Object.entries(FORMS)) {
    const folder = folderOf(places, agent, root);
    const file = join(folder, BRIEFING_FILE);
    const output = text === "" ? "" : `${JSON.stringify(form(text))}\n`;
    if (readIfAny(file) === output) continue;
    if (output === "") takeAway(file, places);
    else {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      writeFileAtomically(file, output, true);
    }
  }
}

/** Removes a briefing, with the folders that repeat the path of its work tree and hold nothing else: agents make work trees by the dozen. */
function takeAway(file: string, { briefings }: Places): void {
  rmSync(file, { force: true });
  try {
    for (let folder = dirname(file); folder !== briefings; folder = dirname(folder)) rmdirSync(folder);
  } catch {
    // It holds another briefing.
  }
}

/** What a hook prints for an agent that was started in a folder; empty where nothing lies ready. */
export function printedBriefing(places: Places, agent: string, folder: string): string {
  const readyIn = (root: string) => readIfAny(join(folderOf(places, agent, root), BRIEFING_FILE));
  try {
    for (let at = realpathSync(folder); ; at = dirname(at)) {
      const text = readyIn(at);
      if (text !== "" || dirname(at) === at) return text;
      if (!existsSync(join(at, ".git"))) continue;
      // A new work tree gets the briefing of the one that git made it from. Those of a bare repository were made from none.
      const common = commonDirectory(join(at, ".git"));
      return basename(common) === ".git" ? readyIn(realpathSync(dirname(common))) : "";
    }
  } catch {
    // A folder that is gone.
    return "";
  }
}

function readIfAny(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
