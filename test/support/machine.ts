import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { newFolder } from "./folder.ts";
import { MAIN } from "./program.ts";

/** A machine that agents work on: a home folder of its own, and a shell that knows `reckon`. It goes with the test. */
export function newMachine() {
  const home = newFolder();
  const env = {
    ...{ PATH: process.env.PATH, HOME: home, NODE: process.execPath, MAIN },
    RECKON_AGENT_HOME: join(home, "state"),
  };
  return {
    home,
    /** @returns what the line prints */
    async run(line: string): Promise<string> {
      const script = `reckon() { "$NODE" "$MAIN" "$@"; }; hostname() { echo named; }; ${line}`;
      return (await promisify(execFile)("bash", ["-c", script], { env, cwd: home })).stdout;
    },
  };
}
