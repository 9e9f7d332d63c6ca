import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { newFolder } from "../support/folder.ts";
import { adminToken, command, everything, ran } from "../support/remote.ts";

/** What a command says to type next works as pasted, and in the place where it worked itself. */

/** The words of a line, as a shell hands them to the program. */
const wordsOf = (line: string) =>
  execFileSync("sh", ["-c", `reckon() { printf '%s\\n' "$@"; }; ${line}`], { encoding: "utf8" })
    .trimEnd()
    .split("\n");

const hinted = (text: string) => (/reckon .*[^.)\n]/.exec(text) ?? expect.fail(text))[0];

it("names the data directory, and quotes what a shell would read otherwise", async () => {
  const data = join(newFolder(), "it's here");
  const made = await command(["team", "create", `Acme's "$HOME" team`, "--data", data]);
  expect(made.code).toBe(0);
  const next = await command(wordsOf(hinted(made.stderr)));
  expect([next.code, next.stdout]).toEqual([0, expect.stringMatching(/^(?:[0-9A-Z]{4}-)+[0-9A-Z]{4}\n$/)]);
});

it("names it in refusals, too", async () => {
  const data = join(newFolder(), "data");
  const { stdout } = await command(["team", "create", "Acme", "--json", "--data", data]);
  for (const line of [
    ["team", "show", "Nobody"],
    ["device", "rename", "dev_0", "x"],
    ["code", "revoke", "code_0", "--team", JSON.parse(stdout).teamId],
    ["user", "disable", "nobody@acme.example"],
  ]) {
    const refused = await command([...line, "--data", data]);
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining(`--data ${data})`)]);
    expect((await command(wordsOf(hinted(refused.stderr)))).code).toBe(0);
  }
});

it("names the server where the command was run there", async () => {
  const { t, url } = await everything();
  const env = { RECKON_TOKEN: (await adminToken(t)).token };
  const made = await ran(["--server", url, "team", "create", "New team"], env);
  expect(made.err).toBe(`Next: reckon --server ${url} code create --team 'New team'\n`);
  expect(await ran(wordsOf(hinted(made.err)), env)).toMatchObject({ code: 0 });
  const refused = await ran(["--server", url, "team", "show", "Nobody"], env);
  expect(refused).toMatchObject({ code: 1, err: expect.stringContaining(`(see: reckon --server ${url} team list)`) });
});

it("quotes it also where a database is gone and a backup is to be put in its place", async () => {
  const data = join(newFolder(), "it's here");
  const backup = join(newFolder(), "backup.db");
  expect((await command(["team", "create", "Acme", "--data", data])).code).toBe(0);
  expect((await command(["backup", backup, "--data", data])).code).toBe(0);
  rmSync(join(data, "reckon.db"));
  mkdirSync(join(data, "backups"));
  const { code, stderr } = await command(["team", "list", "--data", data]);
  expect(code).toBe(1);
  const line = /"(reckon restore FILE .*?)", or/.exec(stderr)?.[1] ?? expect.fail(stderr);
  expect((await command(wordsOf(line.replace("FILE", backup)))).code).toBe(0);
  expect((await command(["team", "list", "--data", data])).stdout).toContain("Acme");
});
