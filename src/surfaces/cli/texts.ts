import { readFile, writeFile } from "node:fs/promises";
import { fail, invalid } from "../../kit/problem.ts";
import { systemErrorText } from "../../kit/system-error.ts";

const MAX_BYTES = 32 * 1024 * 1024;

/**
 * Reads a text that an option or argument names.
 * @param file a path, or `-` for standard input
 * @throws Problem naming the file and the reason
 */
export async function readText(file: string): Promise<string> {
  if (file === "-") return readInput(MAX_BYTES);
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    fail(invalid, `${file} cannot be read: ${systemErrorText(error) ?? String(error)}`);
  }
}

/** Writes a text to the file that an option names. @throws Problem naming the file and the reason */
export async function writeText(file: string, text: string): Promise<void> {
  try {
    await writeFile(file, text);
  } catch (error) {
    fail(invalid, `${file} cannot be written: ${systemErrorText(error) ?? String(error)}`);
  }
}

/**
 * Reads standard input to its end, however slowly it comes. Not with `readFileSync(0)`: a pipe that somebody has looked at
 * through `process.stdin` no longer blocks, and reading it before its writer is there fails with EAGAIN.
 * @throws Problem when more comes than may
 */
export async function readInput(mostBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of process.stdin) {
    chunks.push(chunk as Buffer);
    bytes += (chunk as Buffer).length;
    if (bytes > mostBytes) fail(invalid, `what stands on standard input is longer than ${mostBytes} bytes`);
  }
  return Buffer.concat(chunks).toString("utf8");
}

const MAX_SECRET_BYTES = 16 * 1024;

/**
 * Reads a secret from standard input: the whole of it, less the line break that `echo` and editors put at its end.
 * @param what it is called
 * @param command the line that takes it so
 */
export async function readSecret(what: string, command: string): Promise<string> {
  if (process.stdin.isTTY)
    fail(
      invalid,
      `the ${what} is read from standard input, not typed here: printf %s "$${what.toUpperCase()}" | reckon ${command}`,
    );
  const secret = (await readInput(MAX_SECRET_BYTES)).replace(/\r?\n$/, "");
  if (secret === "") fail(invalid, `there is no ${what} on standard input`);
  return secret;
}
