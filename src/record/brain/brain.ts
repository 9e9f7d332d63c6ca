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
  type SnapshotDiff,
} from "./diff.ts";
export { type CurrentBrain, currentBrains, nextCurrent, readBlob } from "./follow.ts";
export { findMentions, type Mention, type Mentions } from "./mentions.ts";
export { collisionKey, isFromPack, judgePath, KINDS, type Kind, kindOf } from "./paths.ts";
export {
  type Answer,
  densestAt,
  type Found,
  findSections,
  questionAsked,
  searchBrain,
} from "./query.ts";
export { FEW } from "./search-index.ts";
export { EXAMPLE_SOURCE, Source, type SourceFacts, sourceFinder } from "./source.ts";
export { checkBrain } from "./verify.ts";
export { fileVersions, listVersions, type Version } from "./versions.ts";
