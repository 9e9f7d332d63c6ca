import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { newFolder } from "../support/folder.ts";
import { reckon } from "./support/process.ts";
import { testData, testServer } from "./support/test.ts";

/** Commands in processes of their own, on a server in another. */

const PASSWORD = "plough-the-north-field-9";

/** A server, an admin's token of all teams made on its machine, and what runs a command there. */
async function elsewhere() {
  const data = await testData();
  const made = await reckon([
    "api-token",
    "create",
    "--name",
    "ops",
    "--all-teams",
    "--scope",
    "admin",
    "--expires",
    "1h",
    "--data",
    data.directory,
  ]);
  const env = { RECKON_TOKEN: made.stdout.trim(), RECKON_DATA: join(newFolder(), "none") };
  const server = await testServer(data.directory);
  const remote = (args: readonly string[], input?: string) =>
    reckon(["--server", server.url, ...args], { env, ...(input === undefined ? {} : { input }) });
  return { data, server, env, remote };
}

it("reads passwords here and makes accounts there, as on the server's machine", async () => {
  const { data, remote } = await elsewhere();
  const create = [
    "user",
    "create",
    "ada@example.com",
    "--team",
    "Acme",
    "--role",
    "owner",
    "--operator",
    "--password-stdin",
  ];
  const made = await remote(create, `${PASSWORD}\n`);
  expect([made.code, made.stdout]).toEqual([0, expect.stringMatching(/^ada@example.com created \(usr_\w+\)\n$/)]);
  const local = await reckon([...create.with(2, "bob@example.com"), "--data", data.directory], { input: PASSWORD });
  expect(made.stdout.replace(/usr_\w+/, "").replace("ada", "bob")).toBe(local.stdout.replace(/usr_\w+/, ""));
  expect([made.stderr, local.stderr]).toEqual(["", ""]);
  const again = await remote(create, PASSWORD);
  expect([again.code, again.stderr]).toEqual([1, "reckon: There is an account for ada@example.com already.\n"]);
  const weak = await remote(create.with(2, "eve@example.com"), "password");
  expect([weak.code, weak.stderr.startsWith("reckon: ")]).toEqual([1, true]);
  const none = await remote(create.with(2, "eve@example.com"), "");
  expect([none.code, none.stderr]).toEqual([1, "reckon: there is no password on standard input\n"]);
  const only = await remote(["user", "set", "bob@example.com", "--operator", "false"]);
  const last = await remote(["user", "disable", "ada@example.com"]);
  expect([only.code, last.code, last.stderr]).toEqual([0, 1, expect.stringContaining("only operator")]);
  const listed = JSON.parse((await remote(["user", "list", "--json"])).stdout);
  expect(listed.map(({ email, status }: { email: string; status: string }) => [email, status])).toEqual([
    ["ada@example.com", "active"],
    ["bob@example.com", "active"],
  ]);
});

it("reads the secret of single sign-on here, and keeps it there alone", async () => {
  const { data, remote } = await elsewhere();
  const add = ["sso", "add", "corp", "--issuer", "https://id.example.com", "--client-id", "x", "--client-secret-stdin"];
  const made = await remote([...add, "--json"], "s3cret-of-corp\n");
  expect([made.code, made.stderr]).toEqual([0, expect.stringContaining("/sso/corp/callback")]);
  expect(JSON.parse(made.stdout)).toMatchObject({ name: "corp", secret: true });
  const listed = await reckon(["sso", "list", "--json", "--data", data.directory]);
  expect(JSON.parse(listed.stdout)).toMatchObject([{ name: "corp", secret: true }]);
  expect(made.stdout + made.stderr + listed.stdout).not.toContain("s3cret");
});

it("brings an archive that proves itself, and reads files here", async () => {
  const { data, remote } = await elsewhere();
  const at = newFolder();
  const archive = join(at, "acme.tar.zst");
  const done = await remote(["export", "--team", "Acme", "--out", archive]);
  expect([done.code, done.stdout]).toEqual([0, expect.stringContaining(`${archive} (`)]);
  const key = (await reckon(["ledger", "key", "--data", data.directory])).stdout.trim();
  expect((await reckon(["ledger", "check", archive, "--key", key])).code).toBe(0);
  const policy = join(at, "policy.json");
  writeFileSync(policy, '{"captureMode":"metadata"}');
  const set = await remote(["policy", "set", "--team", "Acme", "--file", policy]);
  expect([set.code, JSON.parse(set.stdout)]).toEqual([0, expect.objectContaining({ captureMode: "metadata" })]);
  const piped = await remote(["policy", "set", "--team", "Acme", "--file", "-"], '{"captureMode":"full"}');
  expect([piped.code, JSON.parse(piped.stdout)]).toEqual([0, expect.objectContaining({ captureMode: "full" })]);
  const keys = join(at, "keys.pem");
  expect((await remote(["key", "export", "--out", keys])).code).toBe(0);
  expect(readFileSync(keys, "utf8")).toMatch(/^-----BEGIN PUBLIC KEY-----/);
});

it("says so when the server has gone away", async () => {
  const { server, remote } = await elsewhere();
  await server.end();
  const { code, stderr } = await remote(["team", "list"]);
  expect([code, stderr]).toEqual([1, `reckon: ${server.url}: nothing listens at the server's address\n`]);
});
