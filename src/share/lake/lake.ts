/**
 * Lake: what is sealed and what is made of it as Parquet in a directory or a bucket, where the engines of others ask over many
 * installations. What is erased here is taken out there.
 * Not here: archives that prove what they hold (export), backups (maintenance).
 */
export { checkLake, type LakeCheck } from "./check.ts";
export { exportParquet } from "./export.ts";
export { lakesIn } from "./rows.ts";
export { lakeCopies, lakeStatus, lakeText } from "./status.ts";
