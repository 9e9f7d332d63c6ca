import { readFileSync } from "node:fs";
import { join } from "node:path";
import { zstdDecompressSync } from "node:zlib";
import { expect, it } from "vitest";
import { REMOTE } from "../../src/surfaces/cli/remote.ts";
import { REPO } from "../support/api.ts";
import { newFolder } from "../support/folder.ts";
import { adminToken, type Everything, everything, ran, textFile } from "../support/remote.ts";

/** A command prints the same and leaves the same rows on the server's machine and from elsewhere. */

const IN_A_MONTH = new Date(Date.now() + 30 * 86_400_000).toISOString().slice(0, 10);

type Line = (e: Everything) => readonly string[];

/** A command line of each command that can be run from elsewhere. A word behind the name tells several lines of one command apart. */
const LINES: Readonly<Record<string, Line>> = {
  "team create": () => ["New", "--tier", "enterprise", "--seats", "7"],
  "team list": () => [],
  "team show": ({ acme }) => [acme.id],
  "team set": () => ["Acme", "--seats", "9", "--members-bind", "false"],
  "user list": () => [],
  "user reset-password": ({ bob }) => [bob.email],
  "user reset-second-factor": ({ bob }) => [bob.email],
  "user disable": ({ bob }) => [bob.email, "--revoke-devices"],
  "user enable": ({ bob }) => [bob.email],
  "user set": ({ bob }) => [bob.email, "--operator", "true"],
  "user role": ({ bob, acme }) => [bob.email, "--team", acme.id, "--role", "viewer"],
  "user remove": ({ bob, acme }) => [bob.email, "--team", acme.name],
  "user invite": ({ acme }) => ["eve@example.com", "--team", acme.id, "--role", "viewer"],
  "sso add": () => [
    ...["spare", "--issuer", "https://login.example.com", "--client-id", "reckon"],
    ...["--map", "dev=Acme:member", "--domains", "example.com", "--jit"],
  ],
  "sso set": () => ["corp", "--label", "Corporation", "--map", "dev=Acme:admin", "--session-hours", "8"],
  "sso list": () => [],
  "sso unlink": ({ bob }) => [bob.email],
  "sso remove": () => ["corp"],
  "code create": () => ["--team", "Acme", "--count", "3", "--uses", "2"],
  "code list": () => ["--team", "Acme"],
  "code revoke": ({ codeId }) => [codeId, "--team", "Acme"],
  "device list": () => ["--team", "Acme"],
  "device assign": ({ device, bob }) => [device.deviceId, bob.email],
  "device rename": ({ device }) => [device.deviceId, "build-7"],
  "device revoke": ({ device }) => [device.deviceId],
  "cli approve": ({ userCode, bob }) => [userCode, "--user", bob.email],
  "cli deny": ({ userCode }) => [userCode],
  "cli list": () => [],
  "cli revoke": ({ cliTokenId }) => [cliTokenId],
  "read-token create": ({ bob }) => ["--user", bob.email, "--name", "mine", "--team", "Acme"],
  "read-token list": () => [],
  "read-token revoke": ({ readTokenId }) => [readTokenId],
  "api-token create": () => ["--name", "one", "--team", "Acme", "--expires", "10m"],
  "api-token list": () => ["--team", "Acme"],
  "api-token revoke": ({ apiTokenId }) => [apiTokenId],
  "webhook create": () => ["--team", "Acme", "--name", "ci", "--to", "https://hooks.example.com/x", "--events", "gap"],
  "webhook list": () => ["--team", "Acme"],
  "webhook test": ({ channelId }) => [channelId],
  "webhook rotate": ({ channelId }) => [channelId],
  "webhook pause": ({ channelId }) => [channelId],
  "webhook resume": ({ channelId }) => [channelId],
  "webhook remove": ({ channelId }) => [channelId],
  "policy show": () => ["--team", "Acme"],
  "policy set": () => ["--team", "Acme", "--file", textFile('{"captureMode":"metadata"}')],
  "license mint": () => ["--team", "Acme", "--days", "9"],
  "license mint to a file": () => ["--team", "Acme", "--out", join(newFolder(), "acme.license")],
  "request list": () => ["--search", "phrases"],
  "request set": ({ requests }) => [requests[0], "planned", "--note", "soon"],
  "request merge": ({ requests }) => [requests[0], requests[1]],
  "request unmerge": ({ requests }) => [requests[0]],
  "release add": () =>
    "--platform win --version 1.1.0 --url https://example.com/b.exe --sha512".split(" ").concat("cd".repeat(64)),
  "release list": () => [],
  "release remove": () => ["--platform", "win", "--version", "1.0.0"],
  "pack publish": () => [
    ...["--team", "Acme", "--repo", REPO, "--name", "cookies", "--version", "1.1.0"],
    ...["--readme", textFile("# Read me\n\nTwice.\n"), "--title", "Cookies\u2028!"],
  ],
  "pack list": () => [],
  "pack feature": () => ["cookies"],
  "pack unfeature": () => ["cookies"],
  "pack restore": () => ["cookies"],
  "pack remove": () => ["cookies", "--reason", "it crumbles"],
  "pack verify": () => ["Acme"],
  spend: () => ["--team", "Acme", "--by", "day"],
  "spend as a table": () => ["--team", "Acme", "--csv"],
  "budget set": ({ bob }) => ["--team", "Acme", "--person", bob.email, "--usd", "12.50", "--at", "50,100"],
  "budget list": () => ["--team", "Acme"],
  "budget remove": ({ budgetId }) => [budgetId, "--team", "Acme"],
  "error list": ({ bob }) => ["--team", "Acme", "--owner", bob.email],
  "error list of nobody's": () => ["--team", "Acme", "--nobody"],
  "error show": ({ errorClass }) => [errorClass, "--team", "Acme"],
  "error assign": ({ errorClass, bob }) => [errorClass, bob.email, "--team", "Acme"],
  "error resolve": ({ errorClass }) => [errorClass, "--team", "Acme"],
  "error reopen": ({ errorClass }) => [errorClass, "--team", "Acme"],
  "error snooze": ({ errorClass }) => [errorClass, "--team", "Acme", "--until", IN_A_MONTH],
  "error comment": ({ errorClass }) => [errorClass, "It is the proxy.", "--team", "Acme"],
  "error link": ({ errorClass }) => [errorClass, "https://tracker.example.com/1", "--team", "Acme"],
  "key show": () => [],
  "key rotate": () => [],
  "key export": () => ["--active"],
  "jobs list": () => [],
  audit: () => ["--team", "Acme", "--action", "team.created"],
  erase: ({ device }) => ["--device", device.deviceId, "--reason", "asked for", "--yes"],
  "erase as a trial": () => ["--repo", REPO, "--reason", "asked for", "--dry-run"],
  "export of a team": () => ["--team", "Acme", "--out", join(newFolder(), "acme.tar.zst")],
  "hold place": ({ acme }) => ["--team", acme.id, "--reason", "a case"],
  "hold release": ({ holdId }) => [holdId],
  "hold list": () => [],
  "retention set": () => ["--team", "Acme", "--kind", "telemetry", "--days", "30"],
  "retention list": () => [],
};
/** Those that read standard input, which is this process's own: test/faults/remote.test.ts runs them in others. */
const ELSEWHERE = ["user create"];

const commandOf = (line: string) =>
  Object.keys(REMOTE).find((name) => line === name || line.startsWith(`${name} `)) as string;

it("knows a command line of every command that can be run from elsewhere", () => {
  expect([...new Set(Object.keys(LINES).map(commandOf)), ...ELSEWHERE].sort()).toEqual(Object.keys(REMOTE).sort());
});

/** Takes out of a text what is different about two instances: ids by the order in which they come, times, secrets, digests. */
function plainer(): (text: string) => string {
  const seen = new Map<string, string>();
  const nth = (kind: string) => (found: string) => {
    if (!seen.has(found)) seen.set(found, `<${kind} ${seen.size}>`);
    return seen.get(found) as string;
  };
  return (text) =>
    text
      // Hints name the place.
      .replace(/reckon --server \S+ ([^\n)]+)/g, "reckon $1")
      .replace(/ --data \/[\w./-]+/g, "")
      .replace(/http:\/\/127\.0\.0\.1:\d+/g, "<url>")
      .replace(/\/\S*reckon-(?:instance-)?\w{6}\b/g, "<folder>")
      .replace(/person\d+@/g, "person@")
      // The forecast depends on the instant.
      .replace(/(?<="forecastUsd": )[\d.]+|[\d.]+(?=\s+on track)/g, "<forecast>")
      .replace(/\$argon2id\S+/g, "<hash>")
      .replace(/API token atk_\w+|command line/g, "<who>")
      .replace(/\b\d{4}-\d\d-\d\d(?:T[\d:.]+Z)?/g, "<time>")
      .replace(/\b1[78]\d{11}(?:\.\d+)?\b/g, "<ms>")
      .replace(/\br(?:ka|kr|kc|kl|kd|km)_\w+|\beyJ[\w.-]+/g, "<secret>")
      .replace(/\b(?:[0-9A-Z]{4}-){5}[0-9A-Z]{4}\b|\b[0-9A-Z]{4}-[0-9A-Z]{4}\b/g, "<code>")
      .replace(/whsec_[\w+/]+=*/g, "<secret>")
      .replace(/-----BEGIN[\s\S]*?-----END[^\n]*/g, "<key>")
      .replace(/\b[a-z]+_[0-9a-hjkmnp-tv-z]{26}\b/g, nth("id"))
      .replace(/\b[0-9a-f]{16,}\b/g, "<digest>")
      .replace(/(?<![\w-])[\w-]{43}(?![\w-])/g, "<kid>")
      .replace(/(?<="| )[A-Za-z0-9+/]{80,}={0,2}/g, "<base64>")
      .replace(/(?<=\d files, )\d+(?= bytes)|(?<="bytes": )\d+/g, "<some>");
}

/** Tables that follow from the log, or that change in the background. */
const NOT_COMPARED =
  /^(?:log_|api_token_days|health_probes|projection|job_failures|sqlite_|erased_events|spend_pricing|telemetry_blocks|telemetry_segments)/;

/** The rows that are compared in tables from which background work removes others. */
const COMPARED: Readonly<Record<string, string>> = {
  audit_events: "WHERE action <> 'command.run'",
  notification_channels: "WHERE removed_at IS NULL",
};

/** All rows of an instance, but for what is different about two. */
function rowsOf({ t }: Everything): Record<string, unknown[]> {
  const plain = plainer();
  const tables = t.rows(
    "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%' ORDER BY name",
  );
  const named = tables
    .map(({ name }) => name as string)
    .filter((name) => !NOT_COMPARED.test(name) && !/_fts_/.test(name));
  return Object.fromEntries(
    named.map((table) => {
      const where = COMPARED[table] ?? "";
      const rows = t.rows(`SELECT * FROM ${table} ${where}`).map((row) => {
        const { id, leaf, actor_id, ip, last_used_at, ...rest } = row;
        return Object.entries(rest).map(([name, value]) => {
          if (Buffer.isBuffer(value)) return `${name}: bytes`;
          return `${name}: ${plain(String(value))}`;
        });
      });
      return [table, rows];
    }),
  );
}

/** The contents of the file that a command was told to write, unpacked. */
function fileOf(argv: readonly string[]): string | undefined {
  const at = argv.indexOf("--out");
  if (at < 0) return undefined;
  const bytes = readFileSync(argv[at + 1] as string);
  return (bytes[0] === 0x28 ? zstdDecompressSync(bytes) : bytes).toString("latin1");
}

it.each(Object.keys(LINES))("%s does from elsewhere what it does on the server's machine", async (line) => {
  const name = commandOf(line);
  const [here, there] = [await everything(), await everything()];
  // Both instances have the same tokens.
  await adminToken(here.t);
  const made = await adminToken(there.t);
  const argvOf = (e: Everything) => [...name.split(" "), ...(LINES[line] as Line)(e)];
  for (const more of /spend as|license mint to|trial/.test(line) ? [[]] : [[], ["--json"]]) {
    const [argvHere, argvThere] = [argvOf(here), argvOf(there)];
    const before = there.t.rows("SELECT max(id) AS id FROM audit_events")[0].id;
    const local = await ran([...argvHere, ...more, "--data", here.t.directory]);
    const remote = await ran(["--server", there.url, ...argvThere, ...more], { RECKON_TOKEN: made.token });
    const [plainHere, plainThere] = [plainer(), plainer()];
    expect({ code: remote.code, out: plainThere(remote.out), err: plainThere(remote.err) }).toEqual({
      code: local.code,
      out: plainHere(local.out),
      err: plainHere(local.err),
    });
    const [fileHere, fileThere] = [fileOf(argvHere), fileOf(argvThere)];
    expect(fileThere?.length ?? 0).toBeGreaterThan((fileHere?.length ?? 0) * 0.9 - 1);
    // Every event of the command names the token as its actor.
    const events = there.t.rows(
      "SELECT action, actor_kind, actor_id, actor_label FROM audit_events WHERE id > ?",
      before,
    );
    expect(events.filter(({ actor_kind, actor_id }) => actor_kind === "command" && actor_id !== made.id)).toEqual([]);
    expect(events.filter(({ action }) => action === "command.run").length).toBe(
      REMOTE[name]?.scope === "admin" ? 1 : 0,
    );
  }
  await here.t.instance.settle();
  await there.t.instance.settle();
  expect(rowsOf(there)).toEqual(rowsOf(here));
});

it("means the team of its token, or the only one, where a command of one team names none", async () => {
  const { t, url, acme } = await everything();
  const { token } = await adminToken(t, { teamId: acme.id });
  const lines = [
    "api-token create --name one --expires 10m",
    "webhook create --name ci --to https://hooks.example.com/x",
    "policy show",
    "license mint",
    "code create",
    "code list",
    "spend",
    "budget set --usd 5",
    "budget list",
    "error list",
    "user invite",
    `pack publish --repo ${REPO} --name more --version 1.0.0`,
    "retention set --kind telemetry --days 200",
  ];
  const unnamed = await ran(["error", "list", "--data", t.directory]);
  expect([unnamed.code, unnamed.err]).toEqual([1, "reckon: There are 2 teams: name one with --team.\n"]);
  for (const line of lines) {
    const { code, out, err } = await ran(["--server", url, ...line.split(" ")], { RECKON_TOKEN: token });
    expect([line, code, err.includes("reckon: ")]).toEqual([line, 0, false]);
    expect(out).not.toBe("");
  }
  for (const table of ["api_tokens", "notification_channels", "connect_codes", "budgets", "one_time_links"])
    expect([table, t.rows(`SELECT team_id FROM ${table} ORDER BY created_at DESC LIMIT 1`)]).toEqual([
      table,
      [{ team_id: acme.id }],
    ]);
  const directory = newFolder();
  await ran(["team", "create", "Only", "--data", directory]);
  expect(await ran(["code", "create", "--data", directory])).toMatchObject({ code: 0 });
});
