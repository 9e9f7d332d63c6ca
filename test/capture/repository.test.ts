import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { repositoryOf } from "../../src/capture/repository.ts";
import { MINUTE_MS } from "../../src/kit/clock.ts";
import { deviceOf, expectAgreement, heldOf, startAgent } from "../support/capture.ts";
import { makeRepository, turn } from "../support/turns.ts";
import { git } from "../support/work-tree.ts";

/** The keys under which the server holds what an agent did in a work tree whose origin has an address. */
async function keysFor(
  addresses: readonly string[],
  before = '[remote "origin"]\n\turl = ',
): Promise<(string | null)[]> {
  const a = await startAgent();
  const found: (string | null)[] = [];
  // Git takes a folder with these for a repository.
  for (const name of ["objects", "refs"]) mkdirSync(join(a.home, "shop/.git", name));
  for (const [i, address] of addresses.entries()) {
    writeFileSync(join(a.home, "shop/.git/config"), `${before}${address}\n`);
    a.capture.db.exec("DELETE FROM folders");
    a.work(`s${i}`, 1);
    await a.pass();
    const [row] = a.server.rows("SELECT repo_key AS repo FROM trace_sessions WHERE external_id = ?", `s${i}`);
    found.push(row?.repo ?? null);
  }
  expectAgreement(a);
  expect(JSON.stringify(heldOf(a.server, deviceOf(a)))).not.toMatch(/hunter2|s3cret/);
  expect(JSON.stringify(a.capture.db.prepare("SELECT * FROM streams").all())).not.toMatch(/hunter2|s3cret/);
  return found;
}

describe("the address of a repository's origin", () => {
  it("names it by host and path, however it is written", async () => {
    expect(
      await keysFor([
        "https://github.com/acme/shop.git",
        "git@github.com:acme/shop.git",
        "ssh://git@GitHub.com:22/acme/shop",
        '"https://github.com/acme/shop"',
        "ftps://github.com/acme/shop/",
        "ssh://git@ssh.github.com:443/acme/shop.git",
      ]),
    ).toEqual(Array(6).fill("github.com/acme/shop"));
    const azure = ["git@ssh.dev.azure.com:v3/acme/web/shop", "https://acme@dev.azure.com/acme/web/_git/shop"];
    expect(await keysFor([...azure, "ssh://git@altssh.gitlab.com:443/acme/shop"])).toEqual([
      ...Array(2).fill("dev.azure.com/acme/web/_git/shop"),
      "gitlab.com/acme/shop",
    ]);
  });

  it("is read as git reads it: comments, names in capitals, and short names of hosts", async () => {
    const shop = "github.com/acme/shop";
    const address = "https://github.com/acme/shop.git";
    expect(await keysFor([`${address} # ours`, `${address} ; ours`, `"${address}"# ours`])).toEqual([shop, shop, shop]);
    expect(await keysFor([address], '[Remote "origin"]\n\tURL=')).toEqual([shop]);
    expect(await keysFor([address], '[remote "origin"] url = ')).toEqual([shop]);
    const short = '[core]\n\trepositoryformatversion = 0\n[url "https://github.com/"]\n\tinsteadOf = gh:\n';
    expect(await keysFor(["gh:acme/shop", "work:acme/shop"], `${short}[remote "origin"]\n\turl = `)).toEqual([
      shop,
      "work/acme/shop",
    ]);
  });

  it("is what git reads where it stands in other files or in old forms, and where its short name is no host", async () => {
    const a = await startAgent();
    const address = "https://github.com/acme/shop.git";
    const origin = `[remote "origin"]\n\turl = ${address}\n`;
    const short = (prefix: string) =>
      `[url "https://github.com/acme/"]\n\tinsteadOf = "${prefix}"\n[remote "origin"]\n\turl = ${prefix}shop\n`;
    const configs = [
      "[include]\n\tpath = extra\n",
      "[INCLUDE] path = ../.gitconfig\n",
      '[includeIf "gitdir:**"]\n\tpath = extra\n',
      '[remote "upstream"]\n\turl = https://gitlab.com/other/shop\n[include]\n\tpath = extra\n',
      "[extensions]\n\tworktreeConfig = true\n",
      `[remote.origin]\n\turl = ${address}\n`,
      '[remote "origin"]\n\turl = https://github.com/\\\nacme/shop.git\n',
      short("acme/"),
      short("ours://"),
      short("a:"),
    ];
    const keys = configs.map((config, i) => {
      const root = join(a.home, `r${i}`);
      git(a.home, "init", "--quiet", root);
      for (const file of [".git/extra", ".gitconfig", ".git/config.worktree"]) writeFileSync(join(root, file), origin);
      const version = config.includes("worktreeConfig") ? 1 : 0;
      writeFileSync(join(root, ".git/config"), `[core]\n\trepositoryformatversion = ${version}\n${config}`);
      expect(git(root, "remote", "get-url", "origin").trim()).toMatch(/^https:..github\.com.acme.shop/);
      return repositoryOf(a.capture, root).repo;
    });
    expect(keys).toEqual(Array(configs.length).fill("github.com/acme/shop"));
  });

  it("is none where the file that has it is included under a condition that does not hold", async () => {
    const a = await startAgent();
    const root = join(a.home, "plain");
    git(a.home, "init", "--quiet", root);
    writeFileSync(join(root, ".git/extra"), '[remote "origin"]\n\turl = https://github.com/acme/shop.git\n');
    git(root, "config", "includeIf.gitdir:/nowhere/.path", "extra");
    expect(repositoryOf(a.capture, root).repo).toBe("");
  });

  it("leaves the machine without a secret that stands in its path", async () => {
    const a = await startAgent();
    const bodies: string[] = [];
    a.server.between = (path, answer, body) => {
      bodies.push(path, body);
      return answer();
    };
    const token = `ghp_${"aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zA1bC2"}`;
    writeFileSync(
      join(a.home, "shop/.git/config"),
      `[remote "origin"]\n\turl = https://git.example.com/${token}/shop\n`,
    );
    a.work("s1", 1);
    await a.pass();
    expect(bodies.join()).toContain("git.example.com/[REDACTED:github-token]/shop");
    expect(bodies.join()).not.toContain(token);
  });

  it("lets no part of a password out, whatever that holds and however the address is broken", async () => {
    const shop = "github.com/acme/shop";
    const keys = await keysFor([
      "https://kim:hunter2@github.com/acme/shop.git",
      "https://kim:p@hunter2@github.com/acme/shop.git",
      '"https://kim:hunter2#s3cret@github.com/acme/shop.git"',
      "https://kim:hunter2@github.com:acme/shop.git",
      "https://kim:hunter2/s3cret@github.com/acme/shop.git",
      "ftp://kim:hunter2@github.com/acme/shop.git",
      "hg::https://kim:hunter2@hg.example.com/shop",
      "kim:hunter2@github.com:acme/shop",
    ]);
    expect(keys).toEqual([shop, shop, shop, "", "", shop, "", ""]);
  });
});

it.each(["through a link", "with a slash at its end"])(
  "the home folder leaves the machine in no name of an edited file where HOME names it %s",
  async (how) => {
    const a = await startAgent();
    const link = `${a.home}.link`;
    symlinkSync(a.home, link);
    onTestFinished(() => rmSync(link));
    const home = how === "through a link" ? link : `${a.home}/`;
    a.capture = { ...a.capture, machine: { ...a.capture.machine, home } };
    for (const folder of ["notes", "other"]) mkdirSync(join(a.home, folder));
    const records = turn({ n: 0, cwd: join(a.home, "notes"), at: a.server.clock.now() });
    a.write("s1", ...JSON.parse(JSON.stringify(records).replaceAll("notes/src", "other")));
    await a.pass();
    const [row] = a.server.rows("SELECT document FROM trace_sessions");
    expect(JSON.parse(row.document).files).toEqual(["~/other/0.ts"]);
  },
);

it("whose origin has no address is known by its first commit, and a shallow clone, which lacks that, not at all", async () => {
  const a = await startAgent();
  const [whole, clone, shallow] = ["whole", "clone", "shallow"].map((name) => join(a.home, name)) as [
    string,
    string,
    string,
  ];
  git(a.home, "init", "--quiet", whole);
  for (const message of ["one", "two"])
    git(whole, "-c", "user.name=Kim", "-c", "user.email=kim@example.com", "commit", "--allow-empty", "-qm", message);
  git(a.home, "clone", "--quiet", `file://${whole}`, clone);
  git(a.home, "clone", "--quiet", "--depth", "1", `file://${whole}`, shallow);
  const first = `root:${git(whole, "rev-list", "--max-parents=0", "HEAD").trim()}`;
  const keys = () => [whole, clone, shallow].map((folder) => repositoryOf(a.capture, folder).repo);
  expect(keys()).toEqual([first, first, ""]);
  git(shallow, "fetch", "--quiet", "--unshallow");
  expect(keys()).toEqual([first, first, first]);
});

it("does not wait for a pipe in the place of a file of git's", async () => {
  const a = await startAgent();
  const folders = ["HEAD", "config", "logs/HEAD", "commondir", ".git"].map((name) => {
    const folder = `of${name.replaceAll(/\W/g, "-")}`;
    const root = join(a.home, folder);
    git(a.home, "init", "--quiet", root);
    git(root, "remote", "add", "origin", "https://example.com/acme/shop.git");
    const place = name === ".git" ? join(root, name) : join(root, ".git", name);
    rmSync(place, { recursive: true, force: true });
    mkdirSync(dirname(place), { recursive: true });
    execFileSync("mkfifo", [place]);
    return folder;
  });
  for (const folder of folders) a.work(folder, 1, 0, folder);
  expect(await a.pass()).toMatchObject({ sessionsSent: folders.length });
});

it("is that of the repository in the folder now, where another one lay an hour ago", async () => {
  const a = await startAgent();
  a.work("s1", 1);
  await a.pass();
  a.advance(60 * MINUTE_MS);
  makeRepository(join(a.home, "shop"), "github.com/acme/till");
  a.work("s2", 1);
  await a.pass();
  const held = a.server.rows("SELECT external_id AS id, repo_key AS repo FROM trace_sessions ORDER BY 1");
  expect(held).toEqual([
    { id: "s1", repo: "github.com/acme/shop" },
    { id: "s2", repo: "github.com/acme/till" },
  ]);
  expectAgreement(a);
});
