/**
 * Brain: versioned snapshots of a repository's markdown files, and the search over the current ones.
 * Not here: what the files' entries mean (defects), who may read slices of them (read tokens).
 */
export { type FileContent, type FileList, listFiles, listRepositories, readFile } from "./browse.ts";
export { diffSnapshotFile, diffSnapshots } from "./diff.ts";
export { brainErasure } from "./erase.ts";
export { brainExport } from "./export.ts";
export { brainSequence, currentBrains, readBlob } from "./follow.ts";
export { snapshotItems } from "./items.ts";
export type { SnapshotFacts } from "./manifests.ts";
export { findMentions } from "./mentions.ts";
export { type Answer, findSections, questionAsked, searchBrain } from "./query.ts";
export { MIN_FULL_MATCHES } from "./search-index.ts";
export { Source, sourceFinder } from "./source.ts";
export { brainDeliveries } from "./verify.ts";
export { fileVersions, listVersions } from "./versions.ts";
