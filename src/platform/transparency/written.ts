import { readFileSync, statSync } from "node:fs";
import { type Core, slot } from "../../core.ts";
import { checkpointFile, signedBeside } from "./open-epoch.ts";

/**
 * The checkpoint that lies beside the database, its number of leaves, and when it was written (milliseconds since the epoch, 0 for never).
 */
export const written = slot((core) => {
  const path = checkpointFile(core);
  return {
    note: readOr(path),
    size: signedBeside(core)?.size ?? 0,
    at: statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0,
  };
});

function readOr(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

/** When a checkpoint was last put beside the database, in milliseconds since the epoch, and how many leaves it covers. */
export function lastCheckpoint(core: Core): { readonly at: number | null; readonly size: number } {
  const { at, size } = written(core);
  return { at: at === 0 ? null : at, size };
}
