import { sha256 } from "../../kit/hash.ts";

/** A file ready to be stored: free of secrets, addressed by its content, or by what may be kept of it. */
export interface ReadyFile {
  readonly path: string;
  /** Of the content, or where that is withheld its `withheldDigest`. */
  readonly sha256: Buffer;
  readonly contentSha256: Buffer;
  /** Of the content, withheld or not. */
  readonly bytes: number;
  /** Absent when a blob of this content, scanned with today's rules, is held already. */
  readonly content?: string;
  readonly blobId?: number;
}

export interface Snapshot {
  readonly version: number;
  /** Sorted by path. */
  readonly files: readonly ReadyFile[];
  readonly bytes: number;
  readonly redactionHits: number;
  readonly redactedFiles: number;
  readonly clientTimestamp: string | null;
}

/** The digest of a set of files: of every path with its content's digest. */
export function manifestDigest(files: readonly { readonly path: string; readonly sha256: Buffer }[]): Buffer {
  return sha256(files.map((file) => `${file.path}\0${file.sha256.toString("hex")}\n`).join(""));
}

/** What a file is addressed by of which only path, size and digest may be kept. */
export function withheldDigest(contentSha256: Buffer, bytes: number): Buffer {
  return sha256(`withheld ${bytes} ${contentSha256.toString("hex")}`);
}
