/**
 * Moves: a team leaves one instance in a file and comes to another, with its leaves of the log and what proves them.
 * Not here: refusing what is delivered for a team that has left (teams), devices that follow (capture), archives to read (export).
 */
export { type CheckedFile, checkFile } from "./check-file.ts";
export { exportTeam } from "./export-team.ts";
export { type ImportedTeam, importTeam } from "./import-team.ts";
