/**
 * Brain: versioned snapshots of a repository's markdown files, and the search over the current ones.
 * Not here: what the files' entries mean (defects), who may read slices of them (read tokens).
 */
export { brainDigest } from "./verify.ts";
