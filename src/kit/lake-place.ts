import { isAbsolute, resolve } from "node:path";

/** Where a lake lies. */
export type LakePlace =
  | { readonly kind: "directory"; readonly path: string }
  /** `prefix` is empty or ends with a slash. */
  | { readonly kind: "s3"; readonly bucket: string; readonly prefix: string };

/** Names of buckets as S3 takes them, and of folders that need no escaping anywhere. */
const S3 = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])((?:\/[A-Za-z0-9][A-Za-z0-9._-]{0,100}){0,10})\/?$/;

/** Reads `/path/dir` or `s3://BUCKET/PREFIX`, or says what is wrong with it. */
export function lakePlace(text: string): { readonly value: LakePlace } | { readonly wrong: string } {
  const [, bucket, folders = ""] = S3.exec(text) ?? [];
  if (bucket !== undefined) {
    const prefix = folders === "" ? "" : `${folders.slice(1)}/`;
    return { value: { kind: "s3", bucket, prefix } };
  }
  if (isAbsolute(text)) return { value: { kind: "directory", path: resolve(text) } };
  return {
    wrong: "must be an absolute path of a directory, or s3://BUCKET/PREFIX of letters, digits, dots and dashes",
  };
}

/** A place as it is typed. */
export const lakeText = (place: LakePlace): string =>
  place.kind === "directory" ? place.path : `s3://${place.bucket}/${place.prefix}`;
