import { isUtf8 } from "node:buffer";
import { closeSync, openSync, readSync } from "node:fs";
import { fail, invalid } from "./problem.ts";
import { systemErrorText } from "./system-error.ts";

/** Decodes bytes that others sent. @param what names them in the message @throws Problem when they are not valid UTF-8 */
export function utf8Text(bytes: Uint8Array, what: string): string {
  if (!isUtf8(bytes)) fail(invalid, `${what} is no text: it is not valid UTF-8`);
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
}

/** Reads a text file of unknown origin. @throws Problem that names the file when it cannot be read, is too long or is not UTF-8 */
export function readTextFile(path: string, maxBytes: number): string {
  const bytes = Buffer.alloc(maxBytes + 1);
  let length = 0;
  try {
    const fd = openSync(path, "r");
    try {
      for (let read = -1; read !== 0 && length < bytes.length; length += read)
        read = readSync(fd, bytes, length, bytes.length - length, null);
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    fail(invalid, `${path} cannot be read: ${systemErrorText(error) ?? String(error)}`);
  }
  if (length > maxBytes) fail(invalid, `${path} is longer than ${maxBytes} bytes`);
  return utf8Text(bytes.subarray(0, length), path);
}
