import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Command } from "commander";
import { createTeam, createUser, findTeam, findUser, setPassword } from "../accounts/accounts.ts";
import { SYSTEM } from "../audit/audit.ts";
import { readConfig } from "../config.ts";
import { bindDevice, createCode } from "../connect/connect.ts";
import { DAY_MS, systemClock } from "../kit/clock.ts";
import { processLog } from "../kit/log.ts";
import { systemRandom } from "../kit/random.ts";
import { newToken } from "../kit/tokens.ts";
import { createCliToken } from "../login/login.ts";
import { createReadToken } from "../reads/reads.ts";
import type { Instance } from "../server.ts";
import type { Cli } from "./context.ts";
import { listenOrExplain, untilStopped } from "./serve.ts";

/** Marks a data directory as a throw-away one, so that nobody plays with a real one by mistake. */
const MARK = "reckon-dev.json";

interface DevOptions {
  readonly data?: string;
  readonly port?: string;
  readonly json: boolean;
  readonly env: boolean;
}

interface Credentials {
  readonly baseUrl: string;
  readonly teamId: string;
  readonly teamName: string;
  readonly deviceId: string;
  readonly deviceToken: string;
  readonly connectCode: string;
  readonly userId: string;
  readonly email: string;
  readonly password: string;
  readonly cliToken: string;
  readonly readToken: string;
  readonly dataDirectory: string;
}

export function devCommand(program: Command, cli: Cli): void {
  program
    .command("dev")
    .description("run a throw-away local instance for testing agents; prints its address and credentials")
    .option("--data <dir>", "keep its data here instead of a temporary directory (env RECKON_DATA is not read)")
    .option("--port <n>", "port to listen on; 0 takes a free one (env RECKON_PORT, default 4870)")
    .option("--json", "print the credentials as one JSON document", false)
    .option("--env", "print the credentials as shell assignments", false)
    .action(async (options: DevOptions) => {
      const directory = options.data ?? mkdtempSync(join(tmpdir(), "reckon-dev-"));
      mark(directory);
      try {
        const port = options.port ?? cli.env.RECKON_PORT;
        // Only what a test wants to set is read from the environment: the rest must not leak in from a real installation.
        const config = readConfig(
          { data: directory, host: "127.0.0.1", log: cli.env.RECKON_LOG ?? "warn", ...(port ? { port } : {}) },
          limitsOnly(cli.env),
        );
        const log = processLog(config.log, systemClock.now);
        const { createInstance } = await import("../server.ts");
        const instance = await createInstance({
          config,
          clock: systemClock,
          random: systemRandom,
          log,
          checkReplies: true,
        });
        const baseUrl = await listenOrExplain(instance);
        const made = await seed(instance, baseUrl, directory);
        const stopped = untilStopped(instance);
        process.stdout.write(options.json ? `${JSON.stringify(made)}\n` : options.env ? asEnv(made) : asText(made));
        cli.exitCode = await stopped;
      } finally {
        if (options.data === undefined) rmSync(directory, { recursive: true, force: true });
      }
    });
}

function limitsOnly(env: Cli["env"]): Cli["env"] {
  return Object.fromEntries(Object.entries(env).filter(([name]) => /^RECKON_(?:LIMIT|MAX)_/.test(name)));
}

function mark(directory: string): void {
  if (existsSync(join(directory, "reckon.db")) && !existsSync(join(directory, MARK)))
    throw new Error(`${directory} belongs to a real server; "reckon dev" only uses directories that it made itself`);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  writeFileSync(join(directory, MARK), "{}\n");
}

const EMAIL = "demo@example.com";

async function seed({ core }: Instance, baseUrl: string, dataDirectory: string): Promise<Credentials> {
  const team = findTeam(core, "Demo") ?? (await createTeam(core, "Demo", {}, SYSTEM));
  // Another one with every start: whoever may use this machine may not sign in here for that alone.
  const password = newToken("rkl", core.random).slice(4, 24);
  const known = findUser(core, EMAIL);
  if (known) await setPassword(core, known.id, password, SYSTEM);
  const wanted = {
    email: EMAIL,
    name: "Demo",
    password,
    operator: true,
    team: { id: team.id, role: "owner" as const },
  };
  const user = known ?? (await createUser(core, wanted, SYSTEM));
  const cliToken = await createCliToken(core, user, SYSTEM);
  const readToken = await createReadToken(core, { userId: user.id, name: "demo" }, SYSTEM);
  const first = await createCode(core, team.id);
  const { deviceId, deviceToken } = await bindDevice(core, first.code, "dev", "demo device");
  const second = await createCode(core, team.id, 30 * DAY_MS);
  return {
    baseUrl,
    teamId: team.id,
    teamName: team.name,
    deviceId,
    deviceToken,
    connectCode: second.code,
    userId: user.id,
    email: EMAIL,
    password,
    cliToken: cliToken.accessToken,
    readToken: readToken.token,
    dataDirectory,
  };
}

const asEnv = (made: Credentials) =>
  [
    `export RECKON_BASE_URL='${made.baseUrl}'`,
    `export RECKON_TEAM_ID='${made.teamId}'`,
    `export RECKON_DEVICE_ID='${made.deviceId}'`,
    `export RECKON_DEVICE_TOKEN='${made.deviceToken}'`,
    `export RECKON_CONNECT_CODE='${made.connectCode}'`,
    `export RECKON_EMAIL='${made.email}'`,
    `export RECKON_PASSWORD='${made.password}'`,
    `export RECKON_CLI_TOKEN='${made.cliToken}'`,
    `export RECKON_READ_TOKEN='${made.readToken}'`,
    "",
  ].join("\n");

const asText = (made: Credentials) => `
Reckon is running at ${made.baseUrl} with a throw-away database. Ctrl-C stops it.

  team          ${made.teamName} (${made.teamId})
  device token  ${made.deviceToken}
  connect code  ${made.connectCode}
  read token    ${made.readToken}
  CLI token     ${made.cliToken.slice(0, 24)}… (whole with --json or --env)

  dashboard     ${made.baseUrl}/login
                e-mail ${made.email}, password ${made.password}

Try it:

  curl ${made.baseUrl}/api/health

  curl ${made.baseUrl}/api/connect/exchange -H 'content-type: application/json' \\
    -d '{"code":"${made.connectCode}","consent":{"version":"1","deviceLabel":"my laptop"}}'

  curl ${made.baseUrl}/api/telemetry/ingest -H 'authorization: Bearer ${made.deviceToken}' -H 'content-type: application/json' \\
    -d '{"repoKey":"demo","entries":[{"seq":1,"payload":{"type":"prompt","text":"Fix the login test"}}]}'

  curl ${made.baseUrl}/api/brain/ingest -H 'authorization: Bearer ${made.deviceToken}' -H 'content-type: application/json' \\
    -d '{"repoKey":"demo","version":1,"files":[{"path":".claude/brain/errors.md","content":"## 2026-11-20 Login loop\\n\\nThe cookie lacked its path.\\n"}]}'

  curl '${made.baseUrl}/api/brain/search?q=cookie' -H 'authorization: Bearer ${made.deviceToken}'

  curl '${made.baseUrl}/api/me/brain/context?q=why+did+the+login+loop' -H 'authorization: Bearer ${made.readToken}'

`;
