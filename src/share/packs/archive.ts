import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { TAR_END, tarMember } from "../../kit/tar.ts";

/** A file to be packed; `path` is relative, with no empty, `.` or `..` part. */
export interface PackedFile {
  readonly path: string;
  readonly content: Uint8Array;
}

/** The brain keeps no instants of files; this is the first that every archive format can hold. */
const MODIFIED_AT = Date.parse("1980-01-01T00:00:00Z");
/** Where gzip names the system it ran on (RFC 1952 section 2.3.1), which would differ between machines; 255 is "unknown". */
const OS_BYTE = 9;
const OS_UNKNOWN = 255;

/**
 * Packs files into one folder of a tar.gz (ustar, POSIX.1-1988; longer paths in pax headers). The same files give the same
 * bytes: sorted by path, one instant, one owner, one mode. zlib's own output may change with its version, so an archive is
 * stored rather than made again.
 */
export async function packArchive(folder: string, files: readonly PackedFile[]): Promise<Buffer> {
  const sorted = files.toSorted((a, b) => Buffer.compare(Buffer.from(a.path), Buffer.from(b.path)));
  const members = sorted.map(({ path, content }) => tarMember(`${folder}/${path}`, content, MODIFIED_AT));
  const tar = Buffer.concat([...(await Promise.all(members)), TAR_END]);
  // Node writes no time into gzip's header.
  const packed = await promisify(gzip)(tar, { level: 9 });
  packed[OS_BYTE] = OS_UNKNOWN;
  return packed;
}
