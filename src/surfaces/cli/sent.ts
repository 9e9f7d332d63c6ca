import { PassThrough } from "node:stream";
import * as v from "valibot";
import { programVersion } from "../../kit/assets.ts";
import { fail, forbidden, invalid, unavailable } from "../../kit/problem.ts";
import { readServerUrl, trusting, whyUnreached } from "../../kit/reach.ts";
import { shellWord } from "../../kit/strings.ts";
import { useProxy } from "./agent-context.ts";
import { type Cli, type CommonOptions, HERE, type Place } from "./context.ts";
import { COMMAND_PATH, Frame, WAIT_EVERY_MS } from "./frames.ts";
import { printableWithColours } from "./output.ts";
import { USAGE } from "./program.ts";
import { REMOTE, refuseServerFiles, remoteList } from "./remote.ts";

/** After a longer silence nobody is there any more. */
const MAX_SILENCE_MS = 6 * WAIT_EVERY_MS;
const MAX_FRAME_CHARS = 64 * 1024 * 1024;

interface Server {
  readonly url: string;
  readonly token: string;
}

/**
 * Runs commands on a server elsewhere. The command line is read here, with the files and the standard input that it names; the server does
 * the work.
 * @param argv the command line from the command on
 * @throws Error for an address or a token that will not do
 */
export function sentTo(address: string, token: string, argv: readonly string[]): Place {
  const url = readServerUrl(address, false, "use https");
  if (!/^rka_\w+$/.test(token))
    fail(
      invalid,
      token === ""
        ? `set RECKON_TOKEN, or name --token-file: an API token of ${url}`
        : "the token is no API token (rka_…)",
    );
  // The text that the command read before it was sent; a command reads one at most.
  let input: string | undefined;
  const kept = async (text: Promise<string>) => {
    input = await text;
    return input;
  };
  return {
    admit(name, options) {
      if (!Object.hasOwn(REMOTE, name))
        fail(
          invalid,
          `"reckon ${name}" works on the server's own machine alone. With --server there are:\n${remoteList()}`,
        );
      refuseServerFiles(name, options);
    },
    async carryOut(cli, options) {
      useProxy(cli);
      const body = JSON.stringify({ argv, input, terminal: cli.io.isTerminal });
      cli.exitCode = await follow({ url, token }, body, cli, options);
      return undefined as never;
    },
    reckon: (_, words) => `reckon --server ${shellWord(url)} ${words}`,
    get isInteractive() {
      return HERE.isInteractive;
    },
    readInput: (mostBytes) => kept(HERE.readInput(mostBytes)),
    readText: (file) => kept(HERE.readText(file)),
    requireNewFile: HERE.requireNewFile,
    writeText: HERE.writeText,
    writeArchive: HERE.writeArchive,
  };
}

/** Sends a command and prints its output as it would be printed here. @returns the exit code */
async function follow(server: Server, body: string, cli: Cli, options: CommonOptions): Promise<number> {
  const silence = new AbortController();
  const timer = setTimeout(() => silence.abort(), MAX_SILENCE_MS);
  const file = new Arriving((options as { readonly out?: string }).out);
  const said: string[] = [];
  const print = (out: string) => cli.io.piece(cli.io.isTerminal ? printableWithColours(out) : out);
  try {
    const response = await request(server, body, silence.signal);
    for await (const frame of framesOf(response, () => timer.refresh())) {
      if ("out" in frame) {
        // What is printed about a file is true once the file is whole.
        if (file.isBegun) said.push(frame.out);
        else await print(frame.out);
      } else if ("err" in frame) cli.io.err(printableWithColours(frame.err));
      else if ("file" in frame) await file.take(Buffer.from(frame.file, "base64"));
      else if ("exit" in frame) {
        if (frame.exit === 0) await file.keep();
        for (const out of said) await print(out);
        noteVersion(cli, frame.exit, frame.version);
        return frame.exit;
      }
    }
    return fail(unavailable, "the connection broke before the command was done: check whether it was carried out");
  } finally {
    clearTimeout(timer);
    await file.drop();
  }
}

/** The file that a command writes, as its pieces come. */
class Arriving {
  readonly #path: string | undefined;
  // The writer meets the same error, and throws it.
  readonly #pieces = new PassThrough().on("error", () => {});
  // Begun with the first piece, so that no file is made where none comes.
  #writing: Promise<unknown> | undefined;
  constructor(path: string | undefined) {
    this.#path = path;
  }

  get isBegun(): boolean {
    return this.#writing !== undefined;
  }

  async take(piece: Buffer): Promise<void> {
    if (this.#path === undefined) fail(unavailable, "the server sent a file, which nobody asked for");
    this.#writing ??= HERE.writeArchive(this.#path, this.#pieces);
    // Awaited in `keep` or `drop`; until then a failure must not count as unhandled.
    this.#writing.catch(() => {});
    if (this.#pieces.write(piece)) return;
    const drained = new Promise<void>((resolve) => this.#pieces.once("drain", resolve));
    await Promise.race([drained, this.#writing]);
  }

  /** Ends the file, which is whole. @throws Error when it could not be written */
  async keep(): Promise<void> {
    this.#pieces.end();
    await this.#writing;
  }

  /** Gives up a file that was not kept. */
  async drop(): Promise<void> {
    this.#pieces.destroy(new Error("the file did not come to its end"));
    await this.#writing?.catch(() => {});
  }
}

function noteVersion({ io }: Cli, exit: number, version: string): void {
  if (exit === USAGE && version !== programVersion())
    io.err(`The server runs Reckon ${version}, and this is ${programVersion()}: what one has, the other may lack.\n`);
}

async function send(url: string, token: string, body: string, signal: AbortSignal): Promise<Response> {
  const headers = {
    authorization: `Bearer ${token}`,
    "content-type": "application/json",
    "service-api-version": "1",
    "user-agent": `reckon/${programVersion()}`,
  };
  try {
    // A token is for this server alone: a redirect is not followed.
    return await trusting(() =>
      fetch(url + COMMAND_PATH, { method: "POST", headers, body, redirect: "manual", signal }),
    );
  } catch (error) {
    return fail(unavailable, `${url}: ${whyUnreached(error)}`);
  }
}

async function request({ url, token }: Server, body: string, signal: AbortSignal): Promise<Response> {
  const response = await send(url, token, body, signal);
  const { status, headers } = response;
  if (status === 200 && headers.get("content-type")?.startsWith("application/jsonl")) return response;
  if (status >= 300 && status < 400)
    fail(unavailable, `${url} sends on to ${headers.get("location") ?? "elsewhere"}: name that address`);
  if (!headers.has("service-api-version")) fail(unavailable, `something other than Reckon answers at ${url}`);
  if (status === 404 || status === 405)
    fail(
      unavailable,
      `there are no remote commands at ${url}: is its path right? An older server has none: bring it up to date, or run this on its own machine`,
    );
  const reason = await reasonIn(response);
  if (status === 401)
    fail(forbidden, `the server does not take the token: it is unknown there, ran out or was revoked`);
  if (status === 429) fail(unavailable, `${reason} (in ${headers.get("retry-after") ?? "some"} s)`);
  return fail(unavailable, reason);
}

async function reasonIn(response: Response): Promise<string> {
  const body = v.safeParse(v.object({ error: v.string() }), await response.json().catch(() => undefined));
  return body.success ? body.output.error : `the server answered ${response.status}`;
}

/** @param onPiece called whenever something comes @throws Error for a line that is no frame */
async function* framesOf(response: Response, onPiece: () => void): AsyncGenerator<Frame> {
  const decoder = new TextDecoder();
  let pieces: string[] = [];
  let chars = 0;
  try {
    for await (const bytes of response.body ?? []) {
      onPiece();
      const [first = "", ...lines] = decoder.decode(bytes, { stream: true }).split("\n");
      pieces.push(first);
      chars += first.length;
      if (chars > MAX_FRAME_CHARS) fail(unavailable, "the server sends more than fits");
      for (const next of lines) {
        yield v.parse(Frame, JSON.parse(pieces.join("")));
        pieces = [next];
        chars = next.length;
      }
    }
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof v.ValiError)
      fail(unavailable, "the server's reply cannot be read");
    if (/^(?:TypeError|AbortError)$/.test((error as Error).name))
      fail(unavailable, "the line to the server was cut: look whether the command was carried out");
    throw error;
  }
}
