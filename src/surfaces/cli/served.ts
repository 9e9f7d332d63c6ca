import { type Core, slot } from "../../core.ts";
import { programVersion } from "../../kit/assets.ts";
import { baseUrlOf } from "../../kit/base-url.ts";
import { StoreUnavailable } from "../../kit/errors.ts";
import { fail, forbidden, invalid, Problem, rateLimited, tooLarge, unavailable } from "../../kit/problem.ts";
import { unwatched } from "../../kit/steps.ts";
import { shellWord } from "../../kit/strings.ts";
import { logUnforeseen } from "../../platform/http/request.ts";
import { type Caller, type Cli, outputAt, type Place } from "./context.ts";
import { type Frame, WAIT_EVERY_MS } from "./frames.ts";
import type { Io } from "./output.ts";
import { commandLine, FAILED, reasonOf, runCommand } from "./program.ts";
import { refuseServerFiles } from "./remote.ts";

/** Commands that a server runs for somebody elsewhere, and the lines that it sends them of a command. */

/** A command as it came. */
export interface Sent {
  /** Its name in `remote.ts`. */
  readonly name: string;
  readonly argv: readonly string[];
  readonly input: string | undefined;
  readonly isTerminal: boolean;
  /** Whether the token still works. If not, no more of a file or a list is sent. */
  readonly mayHave: () => boolean;
}

/** Commands that one token may run at once. */
const MAX_RUNNING = 4;
const MAX_OUTPUT_CHARS = 32 * 1024 * 1024;
/** Characters that may wait for their reader before a file or a list is read on. */
const MAX_WAITING_CHARS = 1024 * 1024;

const running = slot(() => new Map<string, number>());

/** Counts a command that begins. @returns what to call at its end @throws Problem when the token has as many running as it may */
export function begin(core: Core, tokenId: string): () => void {
  const counts = running(core);
  const before = counts.get(tokenId) ?? 0;
  if (before >= MAX_RUNNING)
    fail(rateLimited, { message: `${MAX_RUNNING} commands run with this token: wait for one.`, retryAfterSeconds: 1 });
  counts.set(tokenId, before + 1);
  return () => {
    const left = (counts.get(tokenId) ?? 1) - 1;
    if (left > 0) counts.set(tokenId, left);
    else counts.delete(tokenId);
  };
}

/** Lines that wait for whoever reads them. */
class Frames {
  readonly #lines: string[] = [];
  #chars = 0;
  #isGone = false;
  #isDone = false;
  #wake: () => void = () => {};
  #room: () => void = () => {};
  readonly #mayHave: () => boolean;

  constructor(mayHave: () => boolean) {
    this.#mayHave = mayHave;
  }

  push(frame: Frame): void {
    if (this.#isGone) return;
    const line = `${JSON.stringify(frame)}\n`;
    this.#lines.push(line);
    this.#chars += line.length;
    this.#wake();
  }

  /** Sends a piece of a file or of a list, at its reader's pace. @throws Problem when the reader has left, or the token ended */
  async send(frame: Frame): Promise<void> {
    if (!this.#isGone && this.#chars > MAX_WAITING_CHARS)
      await new Promise<void>((resolve) => {
        this.#room = resolve;
      });
    if (this.#isGone) fail(unavailable, "nobody reads any more");
    if (!this.#mayHave()) fail(forbidden, "the token does not work any more");
    this.push(frame);
  }

  end(): void {
    this.#isDone = true;
    this.#wake();
  }

  /** What was pushed, until the end. */
  async *lines(): AsyncGenerator<string> {
    try {
      for (;;) {
        if (this.#lines.length > 0) {
          const text = this.#lines.splice(0).join("");
          this.#chars = 0;
          this.#room();
          yield text;
        } else if (this.#isDone) return;
        else
          await new Promise<void>((resolve) => {
            this.#wake = resolve;
          });
      }
    } finally {
      this.#isGone = true;
      this.#room();
    }
  }
}

/**
 * Runs a command for somebody elsewhere. Once begun it is carried to its end, even if they stop reading; only the output of a file or a
 * list breaks off then.
 * @param onEnd called when it is done
 * @returns the lines that they are sent
 */
export async function* serveCommand(core: Core, caller: Caller, sent: Sent, onEnd: () => void): AsyncGenerator<string> {
  const frames = new Frames(sent.mayHave);
  const timer = setInterval(() => frames.push({ wait: true }), WAIT_EVERY_MS);
  void runSent(core, caller, sent, frames)
    .catch((error: unknown) => {
      frames.push({ err: `reckon: ${explain(core, error)}\n` });
      return FAILED;
    })
    .then((exit) => {
      frames.push({ exit, version: programVersion() });
      clearInterval(timer);
      frames.end();
      onEnd();
    });
  yield* frames.lines();
}

async function runSent(core: Core, caller: Caller, sent: Sent, frames: Frames): Promise<number> {
  const cli: Cli = {
    env: {},
    io: ioOf(frames, sent.isTerminal),
    place: placeOf(core, caller, sent, frames),
    exitCode: 0,
  };
  const program = commandLine(cli);
  // Loaded with the first command: a server that runs none spares the memory.
  const { REMOTE_COMMANDS } = await import("./remote-commands.ts");
  for (const add of REMOTE_COMMANDS) add(program, cli);
  return runCommand(program, sent.argv, cli, (error) => explain(core, error));
}

/** Why a command failed, for somebody elsewhere. An unforeseen error goes to the log alone. */
function explain(core: Core, error: unknown): string {
  if (error instanceof Problem || error instanceof StoreUnavailable) return reasonOf(error);
  logUnforeseen(core, error, "runCommand");
  return "the server failed, and its log says why";
}

function ioOf(frames: Frames, isTerminal: boolean): Io {
  let chars = 0;
  return {
    out(text) {
      chars += text.length;
      if (chars > MAX_OUTPUT_CHARS) fail(tooLarge, "the result is larger than is sent: ask for less of it at once");
      frames.push({ out: text });
    },
    piece: (text) => frames.send({ out: text }),
    err: (text) => frames.push({ err: text }),
    isTerminal,
    steps: unwatched,
  };
}

function placeOf(core: Core, caller: Caller, { name, input }: Sent, frames: Frames): Place {
  // Addresses in results are this server's.
  const here = { ...core, config: { ...core.config, baseUrl: baseUrlOf(core.config) } };
  const send = (bytes: Uint8Array) => frames.send({ file: Buffer.from(bytes).toString("base64") });
  const text = async () => input ?? fail(invalid, "the text that the command reads did not come along");
  return {
    admit(parsed, options) {
      if (parsed !== name) fail(forbidden, "it is not the command that was asked for");
      refuseServerFiles(name, options);
    },
    carryOut: async (cli, options, _, work) => work(here, outputAt(cli, options), caller),
    reckon: (_, words) => `reckon --server ${shellWord(here.config.baseUrl)} ${words}`,
    isInteractive: false,
    async readInput(mostBytes) {
      const read = await text();
      return Buffer.byteLength(read) > mostBytes ? fail(invalid, `the text is longer than ${mostBytes} bytes`) : read;
    },
    // The file is the caller's and was read on their machine: its text came along as the input.
    readText: text,
    requireNewFile() {},
    writeText: (_, content) => send(Buffer.from(content)),
    async writeArchive(_, content) {
      let bytes = 0;
      for await (const piece of content) {
        await send(piece);
        bytes += piece.length;
      }
      return bytes;
    },
  };
}
