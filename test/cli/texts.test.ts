import { mkdirSync, openSync, readdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { rowsOf } from "../faults/support/data.ts";
import { launch, serve, until, within } from "../faults/support/process.ts";
import { newFolder } from "../support/folder.ts";
import { command } from "../support/remote.ts";

/** What commands are given and what they give, where files and pipes are not as one hopes. */

const PASSWORD = "plough-the-north-field";

it.skipIf(process.platform !== "linux")("reads standard input to its end, however late its writer comes", async () => {
  const data = newFolder();
  await command(["team", "create", "Acme", "--data", data]);
  const late = async (args: string[], pieces: string[]) => {
    const watched = launch([...args, "--data", data], { stdio: ["pipe", "pipe", "pipe"] });
    const { stdin, pid } = watched.child;
    let ended = false;
    watched.exited.then(() => {
      ended = true;
    });
    // Once its end of the pipe no longer blocks (O_NONBLOCK, fcntl(2)), it has tried to read before anything was written.
    await until("it reads", () => ended || /^flags:\s+\d*4\d{3}$/m.test(readFileSync(`/proc/${pid}/fdinfo/0`, "utf8")));
    for (const piece of pieces) await new Promise<void>((resolve) => stdin?.write(piece, () => resolve()));
    stdin?.end();
    const { code } = await within(watched.exited, args.join(" "));
    return [code, watched.stderr()];
  };
  expect(
    await Promise.all([
      late(
        ["user", "create", "ada@example.com", "--password-stdin", "--json"],
        [PASSWORD.slice(0, 5), PASSWORD.slice(5)],
      ),
      late(
        ["policy", "set", "--team", "Acme", "--file", "-"],
        [`{"captureMode":`, `"full","watchlist":["${"x".repeat(70_000)}"]}`],
      ),
    ]),
  ).toEqual([
    [0, expect.not.stringContaining("reckon:")],
    [1, expect.not.stringContaining("EAGAIN")],
  ]);
});

it("names the file and the reason when one cannot be read or written", async () => {
  const data = newFolder();
  await command(["team", "create", "Acme", "--data", data]);
  const missing = join(data, "no-such-file");
  const file = join(data, "reckon.db");
  const archive = join(newFolder(), "acme.tar.zst");
  mkdirSync(`${archive}.partial`);
  const long = join(newFolder(), "long");
  // More than is held in memory: without a bound, a device without an end would take all of it.
  writeFileSync(long, "");
  truncateSync(long, 3 * 2 ** 30);
  const cases: [string[], string][] = [
    [
      ["serve", "--data", file, "--port", "0"],
      `${file} is a file: --data names the directory that holds the database, which is made where there is none`,
    ],
    [["license", "verify", missing, "--pubkey", missing], `${missing} cannot be read: there is no such file`],
    [["policy", "set", "--team", "Acme", "--file", data, "--data", data], `${data} cannot be read: it is a directory`],
    [["license", "verify", long, "--pubkey", long], `${long} is longer than 33554432 bytes`],
    [["--server", "http://127.0.0.1:9", "--token-file", long, "team", "list"], `${long} is longer than 33554432 bytes`],
    [["mcp", "--url", "http://127.0.0.1:9", "--token-file", data], `${data} cannot be read: it is a directory`],
    [["mcp", "--url", "http://127.0.0.1:9", "--token-file", long], `${long} is longer than 4096 bytes`],
    [["restore", data, "--data", data], `${data} is a directory, not a file`],
    [["restore", data, "--verify"], `${data} is a directory, not a file`],
    [["restore", "--from", data, "--data", data], `${data} is a directory, not a file`],
    [["team", "import", data, "--accept-key", "--data", data], `${data} is a directory, not a file`],
    [["key", "export", "--out", data, "--data", data], `${data} cannot be written: it is a directory`],
    [["export", "--team", "Acme", "--out", archive, "--data", data], `${archive}.partial: it is a directory`],
    [
      ["license", "mint", "--team", "Acme", "--out", join(missing, "x"), "--data", data],
      `${missing} is no directory, so nothing can be put there`,
    ],
  ];
  for (const [args, said] of cases) {
    const { code, stdout, stderr } = await command(args);
    expect([args[1], code, stdout, stderr]).toEqual([args[1], 1, "", expect.stringContaining(`reckon: ${said}\n`)]);
  }
  // A licence that cannot be written is not minted: the audit would have one that nobody got.
  expect(rowsOf(data, "SELECT 1 FROM audit_events WHERE action = 'license.minted'")).toEqual([]);
});

it("calls it wrong usage to connect a machine without saying where to, or the other way round", async () => {
  const env = { RECKON_AGENT_HOME: newFolder() };
  for (const args of [[], ["http://127.0.0.1:1"], ["CODE", "http://127.0.0.1:1"]]) {
    const { code, stderr } = await command(["agent", "connect", ...args, "--yes"], { env });
    expect([code, stderr]).toEqual([2, expect.stringMatching(/^error: a URL and a code are needed/)]);
  }
});

it("makes no file in a dry run of connecting, and says when there was nothing to disconnect", async () => {
  const home = newFolder();
  const env = { HOME: home, RECKON_AGENT_HOME: join(home, "agent"), CLAUDE_CONFIG_DIR: join(home, "claude") };
  const agent = (...args: string[]) => command(["agent", ...args], { env });
  const looked = await agent("connect", "http://127.0.0.1:1", "CODE", "--agents", "claude-code", "--dry-run");
  expect([looked.code, looked.stderr]).toEqual([0, expect.stringContaining("Connecting would send to")]);
  expect(readdirSync(home)).toEqual([]);
  expect(await agent("disconnect")).toEqual({
    ...{ code: 0, stderr: "", stdout: "This machine was not connected. There was nothing to undo.\n" },
  });
  expect(JSON.parse((await agent("disconnect", "--json")).stdout)).toMatchObject({ disconnected: false, changed: [] });
  expect(readdirSync(home)).toEqual([]);
});

it("says which file of the capture client is damaged, and what to do", async () => {
  const env = { RECKON_AGENT_HOME: newFolder() };
  const file = join(env.RECKON_AGENT_HOME, "agent.db");
  writeFileSync(file, "no database".repeat(1_000));
  for (const args of [["status"], ["run"], ["disconnect", "--force"]]) {
    const { code, stderr } = await command(["agent", ...args], { env });
    const advice = "delete it and agent.db-*, then connect again with a new code, or disconnect";
    expect([code, stderr]).toEqual([1, `reckon: ${file} is damaged (file is not a database): ${advice}\n`]);
  }
});

it("calls an unknown agent wrong usage, instead of watching none", async () => {
  const env = { RECKON_AGENT_HOME: newFolder() };
  for (const args of [
    ["connect", "http://127.0.0.1:1", "CODE", "--yes", "--agents", "claude"],
    ["scan", "--agents", "codex,Cursor"],
    ["import", "--agent", "claude", "."],
    ["managed-settings", "claude"],
  ]) {
    const { code, stderr } = await command(["agent", ...args], { env });
    expect([args, code, stderr]).toEqual([args, 2, expect.stringContaining("It must be one of claude-code, codex,")]);
  }
});

it.skipIf(process.platform !== "linux")("does not report a result as written that was not", async () => {
  const data = newFolder();
  await command(["team", "create", "Acme", "--data", data]);
  const full = openSync("/dev/full", "w");
  const watched = launch(["team", "list", "--data", data], { stdio: ["ignore", full, "pipe"] });
  const { code } = await within(watched.exited, "team list");
  expect([code, watched.stderr()]).toEqual([1, expect.stringContaining("no space is left on the device")]);
});

it("answers help in every way one asks for it", async () => {
  for (const args of [["help"], ["--help"], ["help", "team"], ["team", "help"]]) {
    const { code, stdout } = await command(args);
    expect([args, code, stdout.startsWith("Usage: reckon")]).toEqual([args, 0, true]);
  }
});

it("builds links with the address of the running server, wherever it was set", async () => {
  const data = newFolder();
  await command(["team", "create", "Acme", "--data", data]);
  await command(["user", "create", "ada@example.com", "--password-stdin", "--data", data], { input: PASSWORD });
  const link = async () => command(["user", "reset-password", "ada@example.com", "--data", data]);
  const guessed = await link();
  expect([guessed.code, guessed.stderr]).toEqual([0, expect.stringContaining("so the address is a guess")]);
  const minted = await command(["license", "mint", "--team", "Acme", "--data", data]);
  expect([minted.code, minted.stderr]).toEqual([
    0,
    expect.stringContaining("so the issuer that it names (iss) is a guess: set RECKON_BASE_URL"),
  ]);
  const issuerOf = ["--issuer", "https://login.example.com", "--client-id", "reckon", "--domains", "example.com"];
  for (const args of [
    ["add", "corp", ...issuerOf],
    ["scim", "corp"],
  ]) {
    const { code, stderr } = await command(["sso", ...args, "--data", data]);
    expect([args[0], code, stderr]).toEqual([args[0], 0, expect.stringContaining("so the address is a guess")]);
  }
  const issuer = async () => {
    const { stdout } = await command(["license", "mint", "--team", "Acme", "--data", data]);
    return JSON.parse(Buffer.from(stdout.split(".")[1] as string, "base64url").toString()).iss;
  };
  for (const args of [[], ["--base-url", "https://reckon.example.com/sub"]]) {
    const server = await serve(data, { args });
    const baseUrl = args[1] ?? server.url;
    const { stdout, stderr } = await link();
    expect([stdout.startsWith(`${baseUrl}/reset-password#rkl_`), stderr]).toEqual([
      true,
      expect.not.stringContaining("guess"),
    ]);
    expect(await issuer()).toBe(baseUrl);
    await server.end();
  }
});
