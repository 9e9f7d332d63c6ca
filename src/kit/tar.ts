/** Tar archives as a stream (ustar, POSIX.1-1988): a header of one block for each file, its content, and zeros up to the next block. */

const BLOCK = 512;
const MAX_NAME_CHARS = 100;

/** The header of a file. @throws RangeError for a name that is too long or not ASCII, or a size beyond 8 GiB */
export function tarHeader(name: string, bytes: number, modifiedAt: number): Buffer {
  if (!/^[\x21-\x7e]+$/.test(name) || name.length > MAX_NAME_CHARS)
    throw new RangeError(`no name for a tar archive: ${name}`);
  if (bytes >= 8 ** 11) throw new RangeError("too large for a tar archive");
  const header = Buffer.alloc(BLOCK);
  const octal = (value: number, chars: number) => `${value.toString(8).padStart(chars - 1, "0")}\0`;
  header.write(name, 0, "ascii");
  header.write(octal(0o644, 8), 100, "ascii");
  header.write(octal(0, 8), 108, "ascii");
  header.write(octal(0, 8), 116, "ascii");
  header.write(octal(bytes, 12), 124, "ascii");
  header.write(octal(Math.floor(modifiedAt / 1_000), 12), 136, "ascii");
  // The sum is taken with spaces in its place.
  header.fill(" ", 148, 156);
  header.write("0", 156, "ascii");
  header.write("ustar\x0000", 257, "latin1");
  let sum = 0;
  for (const byte of header) sum += byte;
  header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148, "latin1");
  return header;
}

/** What follows a file's content. */
export const tarPadding = (bytes: number): Buffer => Buffer.alloc((BLOCK - (bytes % BLOCK)) % BLOCK);

/** What ends an archive. */
export const TAR_END = Buffer.alloc(2 * BLOCK);
