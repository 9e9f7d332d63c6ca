import { Readable } from "node:stream";
import { createTarDecoder, packTar } from "modern-tar";
import { fail, invalid } from "./problem.ts";

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

export interface TarFile {
  readonly name: string;
  readonly content: Buffer;
}

/**
 * The files of an archive one after the other, each held as a whole.
 * @param maxBytes of each
 * @throws Problem where there is something other than a file, or one too large; Error where it is no archive
 */
export async function* tarFiles(archive: Readable, maxBytes: number): AsyncGenerator<TarFile> {
  const files = (Readable.toWeb(archive) as ReadableStream<Uint8Array>).pipeThrough(createTarDecoder({ strict: true }));
  for await (const { header, body } of files) {
    const { name, size, type } = header;
    if (type !== "file" || size > maxBytes) fail(invalid, `${JSON.stringify(name)} is no file, or too large`);
    const parts: Uint8Array[] = [];
    for await (const part of body) parts.push(part);
    yield { name, content: Buffer.concat(parts) };
  }
}
