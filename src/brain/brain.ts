/**
 * Brain: versioned snapshots of a repository's markdown files, and the search over the current ones.
 * Not here: what the files' entries mean (defects), who may read slices of them (read tokens).
 */
export {
  type BrainFile,
  type FileContent,
  type FileList,
  listFiles,
  listRepositories,
  type Repository,
  readFile,
  type SnapshotFacts,
} from "./browse.ts";
export {
  type Diff,
  diffFiles,
  diffSnapshotFile,
  diffSnapshots,
  type FileChange,
  type Hunk,
  type SnapshotDiff,
} from "./diff.ts";
export { KINDS, type Kind } from "./paths.ts";
export { type Answer, type Hit, type SearchScope, searchBrain } from "./question.ts";
export { brainDigest } from "./verify.ts";
export { type FileVersion, fileVersions, listVersions, type Version } from "./versions.ts";
