/**
 * Export: everything that is held of a team, a repository or a person, in one archive that can be checked file by file.
 * Not here: what backups carry (maintenance), exports of single pages (the rooms of their data).
 */
export { exportArchive } from "./archive.ts";
export { checkArchive, isArchive } from "./check.ts";
export { type ExportRequest, resolveScope } from "./scope.ts";
