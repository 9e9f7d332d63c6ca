import { setFlagsFromString } from "node:v8";
import { reasonOf, run } from "./surfaces/cli/run.ts";

// Rules are written to be linear; should one not be, V8's linear engine takes over instead of stalling every request.
setFlagsFromString("--enable-experimental-regexp-engine-on-excessive-backtracks");
// The capture client is a guest on somebody's machine: a quarter less memory, and as fast on what it reads.
if (process.argv[2] === "agent") setFlagsFromString("--memory-saver-mode");
// Files made beside the database are their owner's alone.
process.umask(0o077);
// Inside a hook of git's own they would answer every question to git for the repository that the hook belongs to.
for (const name of ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX"]) delete process.env[name];
// A closed stdout must not end a server, nor is a reader that has gone away a failure. A result that nobody got for any other
// reason is one.
let unwritten: NodeJS.ErrnoException | undefined;
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE" && !/^(?:serve|dev)$/.test(process.argv[2] ?? "")) unwritten = error;
});

const code = await run(process.argv.slice(2), process.env);
// A result larger than a pipe holds is still on its way; a reader that has gone away is not waited for.
await new Promise<void>((resolve) => {
  process.stdout.once("close", resolve);
  process.stdout.write("", () => resolve());
});
// Not left to happen by itself: a log that nobody reads would keep the process waiting for ever.
if (unwritten)
  process.stderr.write(
    `reckon: the result could not be written (${reasonOf(unwritten)}); what the command did is done\n`,
  );
process.exit(unwritten && code === 0 ? 1 : code);
