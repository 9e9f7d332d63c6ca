import * as v from "valibot";

/** A line of JSON that a server sends about a command that it runs for somebody elsewhere, as it happens. */
export const Frame = v.union([
  v.strictObject({ out: v.pipe(v.string(), v.description("Goes to standard output.")) }),
  v.strictObject({ err: v.pipe(v.string(), v.description("Goes to standard error.")) }),
  v.strictObject({
    file: v.pipe(v.string(), v.description("Base64: a piece of the file that the option --out names.")),
  }),
  v.strictObject({ wait: v.pipe(v.literal(true), v.description("It goes on; said now and then.")) }),
  v.strictObject({
    exit: v.pipe(v.number(), v.integer(), v.description("The exit code; the last line.")),
    version: v.pipe(v.string(), v.description("The server's program version.")),
  }),
]);
export type Frame = v.InferOutput<typeof Frame>;

/** How often a server says that a command is still running. A client gives up after a silence several times as long. */
export const WAIT_EVERY_MS = 10_000;

/** Where commands are sent. */
export const COMMAND_PATH = "/api/command";
