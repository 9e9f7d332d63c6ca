import { accessSync, constants, existsSync, statSync } from "node:fs";
import { delimiter, join } from "node:path";
import type { InstallTarget } from "./installer.ts";

/** Whether an agent is on a machine: one of its folders, or one of its programs on PATH. Runs nothing. */
export function isPresent(machine: InstallTarget, folders: readonly string[], programs: readonly string[]): boolean {
  return (
    folders.some((folder) => existsSync(folder)) || programs.some((name) => programPath(machine, name) !== undefined)
  );
}

/** Where a program lies on PATH, or undefined. */
export function programPath({ env, platform }: InstallTarget, name: string): string | undefined {
  const endings = platform === "win32" ? (env.PATHEXT ?? ".COM;.EXE;.BAT;.CMD").split(";") : [""];
  for (const folder of (env.PATH ?? env.Path ?? "").split(delimiter).filter((one) => one !== ""))
    for (const ending of endings) {
      const path = join(folder, name + ending);
      if (isProgram(path)) return path;
    }
  return undefined;
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
