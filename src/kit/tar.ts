import { packTar } from "modern-tar";

/** What ends an archive (POSIX.1-1988, ustar): two blocks of zeros. */
export const TAR_END = Buffer.alloc(1_024);

/**
 * A file as it stands in a tar archive: header, content and filling (ustar; longer paths in pax headers). An archive is one after the
 * other, and `TAR_END`. The same file gives the same bytes: one owner, one mode.
 * @param modifiedAt milliseconds since the epoch
 */
export async function tarMember(path: string, content: Uint8Array, modifiedAt: number): Promise<Uint8Array> {
  const header = {
    name: path,
    size: content.length,
    type: "file" as const,
    mode: 0o644,
    mtime: new Date(modifiedAt),
    uid: 0,
    gid: 0,
    uname: "",
    gname: "",
  };
  return (await packTar([{ header, body: content }])).subarray(0, -TAR_END.length);
}
