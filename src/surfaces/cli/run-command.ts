import * as v from "valibot";
import { type ApiPrincipal, apiToken, getApiToken, recordApiRead } from "../../identity/api-tokens/api-tokens.ts";
import { findUser } from "../../identity/people/people.ts";
import { fail, forbidden, malformed } from "../../kit/problem.ts";
import { type Actor, recordAct } from "../../platform/audit/audit.ts";
import { endpoint, Reply } from "../../platform/http/endpoint.ts";
import { COMMAND_PATH } from "./frames.ts";
import { REMOTE, remoteNameOf } from "./remote.ts";
import { begin, serveCommand } from "./served.ts";

const MAX_ARGUMENTS = 200;
const MAX_ARGUMENT_CHARS = 4_096;
const MAX_INPUT_CHARS = 1024 * 1024;
const MAX_BODY_BYTES = 4 * 1024 * 1024;

const Argument = v.pipe(
  v.string(),
  v.maxLength(MAX_ARGUMENT_CHARS, `must have at most ${MAX_ARGUMENT_CHARS} characters`),
  // No process has such an argument.
  v.check((text) => !text.includes("\0"), "must have no NUL"),
);

const Command = v.object({
  argv: v.pipe(
    v.array(Argument),
    v.minLength(1, "must name a command"),
    v.maxLength(MAX_ARGUMENTS, `must have at most ${MAX_ARGUMENTS} arguments`),
    v.description("The command line as `reckon` takes it, from the command on."),
  ),
  input: v.optional(
    v.pipe(
      v.string(),
      v.maxLength(MAX_INPUT_CHARS, `must have at most ${MAX_INPUT_CHARS} characters`),
      v.description("The text on standard input, or in the file that the command reads."),
    ),
  ),
  terminal: v.optional(v.pipe(v.boolean(), v.description("Whether a person reads the result on a terminal."))),
});

/** Runs a command of the command line within the server, with an API token. */
export const runCommand = endpoint(
  {
    id: "runCommand",
    method: "POST",
    path: COMMAND_PATH,
    summary: "Run a command of the command line, as `reckon --server` does",
    tag: "Remote commands",
    auth: apiToken,
    body: { schema: Command, maxBytes: () => MAX_BODY_BYTES },
    media: "application/jsonl; charset=utf-8",
    ok: v.pipe(
      v.string(),
      v.description(
        "Lines of JSON, as it happens: `out` and `err` are texts for standard output and standard error, `file` a piece in Base64 of the file that --out names, `wait` says that it goes on, and `exit` is the exit code, in the last line.",
      ),
    ),
    errorShape: "canonical",
    faults: [forbidden],
    limits: [{ name: "api", quota: (config) => config.limitApi, per: "token", headers: "limited" }],
    example: {
      body: { argv: ["team", "list"] },
      ok: '{"out":"team_06a15c9c007x7v3w3nbxrw2s5m\\tAcme\\tteam\\t5\\tactive\\n"}\n{"exit":0,"version":"1.0.0"}\n',
    },
  },
  async ({ core, principal, body, ip }) => {
    const { argv, input, terminal = false } = body;
    const name =
      remoteNameOf(argv) ??
      fail(malformed, "This server knows no such remote command. Your program may be newer than the server.");
    requireMay(principal, name);
    const onEnd = begin(core, principal.tokenId);
    try {
      const { userId, expiresAt, name: label } = getApiToken(core, principal.tokenId);
      const { tokenId, teamId } = principal;
      const by: Actor = { kind: "command", id: tokenId, label: `API token ${tokenId}`, ip: ip() };
      const owner = userId === null ? null : (findUser(core, userId)?.email ?? null);
      const target = { kind: "api_token", id: tokenId, label };
      // Who runs it is on record before anything is done.
      await Promise.all([
        recordApiRead(core, principal, name),
        REMOTE[name]?.scope === "admin" &&
          recordAct(core, by, { action: "command.run", teamId, target, detail: { command: name, owner } }),
      ]);
      const mayHave = () => getApiToken(core, tokenId).status === "active";
      const sent = { name, argv, input, isTerminal: terminal, mayHave };
      return new Reply("", { content: serveCommand(core, { by, teamId, token: { userId, expiresAt } }, sent, onEnd) });
    } catch (error) {
      onEnd();
      throw error;
    }
  },
);

/** @throws Problem forbidden (403) */
function requireMay({ scope, teamId }: ApiPrincipal, name: string): void {
  const needed = REMOTE[name];
  if (needed?.scope === "admin" && scope !== "admin") fail(forbidden, `"${name}" takes a token of the scope admin.`);
  if (needed?.of === "all" && teamId !== null) fail(forbidden, `"${name}" takes a token of all teams.`);
}
