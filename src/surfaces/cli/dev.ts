import { closeSync, fstatSync, mkdtempSync, openSync, rmSync } from "node:fs";
import { devNull, tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { type Command, Option } from "commander";
import { readConfig } from "../../config.ts";
import { baseUrlOf } from "../../kit/base-url.ts";
import { isoInstant, systemClock } from "../../kit/clock.ts";
import { isSpecial, writeFileAtomically } from "../../kit/files.ts";
import { type Log, processLog } from "../../kit/log.ts";
import { fail, invalid } from "../../kit/problem.ts";
import { systemRandom } from "../../kit/random.ts";
import { shellQuoted } from "../../kit/strings.ts";
import type { Local } from "../dev/dev.ts";
import type { Cli } from "./context.ts";
import { listenOrExplain, untilStopped } from "./serve.ts";
import { tryIt } from "./try-it.ts";
import { instant } from "./values.ts";

interface DevOptions {
  readonly data?: string;
  readonly port?: string;
  readonly seed?: string;
  /** Milliseconds since the epoch. */
  readonly start?: number;
  readonly freeze: boolean;
  readonly empty: boolean;
  readonly watchParent: boolean;
  readonly json: boolean;
  readonly env: boolean;
  readonly writeJson?: string;
  readonly writeEnv?: string;
}

/** Milliseconds between two looks whether the parent process is still there. */
const PARENT_EVERY_MS = 250;

const MORE_HELP = `
Control routes, for programs on this machine only (GET /_dev lists them with examples):
  GET    /_dev/state           clock, team, credentials, waiting authorizations, planned faults, counts
  GET    /_dev/clock           the instance's time
  POST   /_dev/clock           {"advance":"90d"} {"set":"2027-01-01T00:00:00Z"} {"freeze":true}
  POST   /_dev/authorizations  {"user_code":"…","decision":"approve"} or "deny"
  POST   /_dev/team            {"tier":"starter"} {"subscription":"canceled"} {"suspended":true} {"periodEnd":…} {"seats":3}
  POST   /_dev/credentials     {"kind":"device","state":"expired"}; also connectCode, readToken, cliToken
  POST   /_dev/devices/:id     {"action":"revoke"} or "rotate"
  POST   /_dev/releases        {"version":"2.4.0"}; also url with sha512; "withdraw":true
  POST   /_dev/requests/:id    {"status":"planned","note":"…"}
  GET    /_dev/faults          what is planned, and what can be
  POST   /_dev/faults          {"operationId":"telemetryIngest","status":503,"times":2,"retryAfter":7}
                               also {"operationId":…} with "delayMs":3000, "drop":true or "truncate":20
  DELETE /_dev/faults          takes them back
  GET    /_dev/journal         the last 200 requests and replies, secrets masked
  DELETE /_dev/journal         forgets them
  POST   /_dev/reset           back to the seed

Of the environment only RECKON_PORT, RECKON_LOG, RECKON_LIMIT_… and RECKON_MAX_… are read.`;

export function devCommand(program: Command, cli: Cli): void {
  program
    .command("dev")
    .description("run a throw-away local instance for testing agents; prints its address and credentials")
    .option("--data <dir>", "keep its data here instead of a temporary directory (env RECKON_DATA is not read)")
    .option("--port <n>", "port to listen on; 0 takes a free one (env RECKON_PORT, default 4870)")
    .option("--seed <text>", "the same ids, tokens, key and start time every time: they follow from this text")
    .option(
      "--start <instant>",
      'where its clock begins: ISO 8601, or "now" (default: now; fixed with --seed)',
      startAt,
    )
    .option("--freeze", "let the clock stand still until it is moved", false)
    .option("--empty", "without demo data: a team, a person and credentials only", false)
    .option("--watch-parent", "stop when the process that started it ends", false)
    .option("--json", "print the credentials as one JSON document", false)
    .addOption(
      new Option("--env", "print the credentials as shell assignments; a pipe that they go to is closed then")
        .default(false)
        .conflicts("json"),
    )
    .option("--write-json <file>", "write them as JSON to a file once it answers; the file is removed at the end")
    .option("--write-env <file>", "the same as shell assignments")
    .addHelpText("after", MORE_HELP)
    .action(async (options: DevOptions) => {
      const files = [options.writeEnv, options.writeJson].filter((path) => path !== undefined);
      for (const path of files) requireWritable(path);
      const directory = options.data ?? mkdtempSync(join(tmpdir(), "reckon-dev-"));
      const remove = () => {
        for (const path of files) rmSync(path, { force: true });
        if (options.data === undefined) rmSync(directory, { recursive: true, force: true });
      };
      // Also when a second signal ends the process at once.
      process.once("exit", remove);
      try {
        await run(cli, options, directory, options.start);
      } finally {
        remove();
        process.off("exit", remove);
      }
    });
}

/** Removes the file of an earlier instance, which would look like this one's. @throws Error when no file can be written there */
function requireWritable(path: string): void {
  if (isSpecial(path)) fail(invalid, `${path} is no file, and the file would be removed at the end`);
  const probe = join(dirname(path), `.reckon-dev-${process.pid}`);
  try {
    rmSync(path, { force: true });
    closeSync(openSync(probe, "w", 0o600));
    rmSync(probe, { force: true });
  } catch (error) {
    fail(invalid, `${path} cannot be written (${(error as NodeJS.ErrnoException).code})`);
  }
}

/** @returns milliseconds since the epoch */
const startAt = (text: string): number => (text === "now" ? systemClock.now() : instant(text));

async function run(cli: Cli, options: DevOptions, directory: string, startAt: number | undefined): Promise<void> {
  const flags = { data: directory, host: "127.0.0.1", ...(options.port ? { port: options.port } : {}) };
  const config = readConfig(flags, { ...meant(cli.env), RECKON_LOG: cli.env.RECKON_LOG || "warn" });
  const log = processLog(config.log, systemClock.now);
  const [{ openLocal, programIdentity }, { CONTRACT, createInstance }, { listen }] = await Promise.all([
    import("../dev/dev.ts"),
    import("../../app.ts"),
    import("../../platform/http/listen.ts"),
  ]);
  // The listener comes first, because its address is part of the seed.
  let ready: (local: Local) => void = () => {};
  const opened = new Promise<Local>((resolve) => {
    ready = resolve;
  });
  const front = { fetch: async (request: Request) => (await opened).fetch(request) };
  let listener: Awaited<ReturnType<typeof listen>> | undefined;
  const { host, maxConnections } = config;
  await listenOrExplain({
    core: { config },
    async listen() {
      listener = await listen(front, { host, port: config.port, maxConnections, log });
      return "";
    },
    close: async () => {},
  });
  const bound = Object.freeze({ ...config, port: listener?.port ?? config.port });
  const baseUrl = baseUrlOf(bound);
  const local = await openLocal({
    directory,
    baseUrl,
    config: bound,
    seed: options.seed,
    startAt,
    frozen: options.freeze,
    empty: options.empty,
    program: programIdentity(),
    base: { clock: systemClock, random: systemRandom },
    endpoints: CONTRACT,
    open: ({ seeding, ...parts }) =>
      createInstance({
        ...parts,
        // A quota that a test sets low is for the test's requests, not for the seed's.
        config: seeding ? Object.freeze({ ...readConfig(flags, {}), port: bound.port }) : bound,
        log: seeding ? quiet(log) : log,
        checkReplies: true,
      }),
  }).catch(async (error: unknown) => {
    await listener?.close();
    throw error;
  });
  const close = async () => {
    await listener?.close();
    await local.close();
  };
  ready(local);
  const stopped = untilStopped({ close }, (stop) => {
    process.on("SIGHUP", () => stop(0));
    if (options.watchParent) watchParent(() => stop(0));
  });
  announce(describe(local, directory), options);
  cli.exitCode = await stopped;
}

/** Tells where the instance answers and with which credentials, in the forms that were asked for. */
function announce(facts: ReturnType<typeof describe>, options: DevOptions): void {
  if (options.writeJson !== undefined) writeFileAtomically(options.writeJson, asJson(facts), true);
  if (options.writeEnv !== undefined) writeFileAtomically(options.writeEnv, asEnv(facts), true);
  const text = options.json ? asJson(facts) : options.env ? asEnv(facts) : asText(facts);
  process.stdout.write(text, () => {
    if (options.env) hangUp();
  });
}

/** Only what a test wants to set is read from the environment: the rest must not leak in from a real installation. */
function meant(env: Cli["env"]): Cli["env"] {
  return Object.fromEntries(Object.entries(env).filter(([name]) => /^RECKON_(?:PORT$|LIMIT_|MAX_)/.test(name)));
}

/** While a seed is made, the clock leaps through weeks: warnings about it mean nothing. */
const quiet = (log: Log): Log => ({ ...log, warn: () => {} });

/** Calls back once the process that started this one is gone: then the parent is another one, or the pipe to our stdin closes. */
function watchParent(gone: () => void): void {
  const parent = process.ppid;
  setInterval(() => {
    if (process.ppid !== parent) gone();
  }, PARENT_EVERY_MS).unref();
  try {
    const stdin = fstatSync(0);
    // A file, a terminal or /dev/null ends for other reasons.
    if (!stdin.isFIFO() && !stdin.isSocket()) return;
  } catch {
    return;
  }
  process.stdin.on("end", gone).on("error", gone).resume().unref();
}

/** Closes standard output where it is a pipe: `eval "$(reckon dev --env &)"` waits until nobody can write to it any more. */
function hangUp(): void {
  const out = fstatSync(1);
  if (!out.isFIFO() && !out.isSocket()) return;
  process.stdout.on("error", () => {});
  closeSync(1);
  // Takes the file descriptor of standard output: otherwise the next opened file would get it, and be written to as standard output.
  openSync(devNull, "w");
}

/** What a test needs to know of an instance. */
function describe({ credentials, clock, kept, options: { frozen } }: Local, dataDirectory: string) {
  return {
    ...credentials,
    dataDirectory,
    controlUrl: `${credentials.baseUrl}/_dev`,
    pid: process.pid,
    seed: kept.seed,
    clock: clock.describe(),
    time: `${isoInstant(clock.now())}${frozen ? ", standing still" : ""}`,
  };
}

type Facts = ReturnType<typeof describe>;

const asJson = ({ time: _, ...facts }: Facts) => `${JSON.stringify(facts)}\n`;

const asEnv = (made: Facts) =>
  Object.entries({
    RECKON_BASE_URL: made.baseUrl,
    RECKON_CONTROL_URL: made.controlUrl,
    // The command line reads it, so that its commands work on this instance.
    RECKON_DATA: resolve(made.dataDirectory),
    RECKON_PID: String(made.pid),
    RECKON_TEAM_ID: made.teamId,
    RECKON_DEVICE_ID: made.deviceId,
    RECKON_DEVICE_TOKEN: made.deviceToken,
    RECKON_CONNECT_CODE: made.connectCode,
    RECKON_EMAIL: made.email,
    RECKON_PASSWORD: made.password,
    RECKON_CLI_TOKEN: made.cliToken,
    RECKON_READ_TOKEN: made.readToken,
  })
    .map(([name, value]) => `export ${name}=${shellQuoted(value)}\n`)
    .join("");

const asText = (made: Facts) => `
Reckon is running at ${made.baseUrl} with a throw-away database. Ctrl-C stops it.

  team          ${made.teamName} (${made.teamId})
  device token  ${made.deviceToken}
  connect code  ${made.connectCode}
  read token    ${made.readToken}
  CLI token     ${made.cliToken.slice(0, 24)}… (whole with --json or --env)${made.seed === null ? "" : `\n  clock         ${made.time}`}

  dashboard     ${made.baseUrl}/login
                e-mail ${made.email}, password ${made.password}
  control       ${made.baseUrl}/_dev moves its clock, plans faults, resets it

Try it:

${tryIt(made, process.platform)}`;
