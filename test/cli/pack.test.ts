import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { startInstance, type TestInstance } from "../support/instance.ts";
import { ERRORS, plantInBrain, pushBrain, REPO } from "../support/packs.ts";
import { command, commandJson } from "../support/remote.ts";

const run = (t: TestInstance, ...args: string[]) => command(["pack", ...args, "--data", t.directory]);

const json = (t: TestInstance, ...args: string[]) => commandJson(["pack", ...args, "--data", t.directory]);

async function start() {
  const t = await startInstance();
  const device = await t.device(await t.team({ name: "Acme" }));
  await pushBrain(t, device);
  const wanted = ["--team", "Acme", "--repo", REPO, "--name", "cookie-rules", "--version"];
  return { t, device, publish: (...more: string[]) => ["publish", ...wanted, ...more] };
}

describe("packs from the command line", () => {
  it("are published from a team's brain beside a running server, and found at once", async () => {
    const { t, publish } = await start();
    const readme = join(t.directory, "README.md");
    writeFileSync(readme, "# Cookies\n\nAll of them. API_TOKEN=Zk3pQ8wR5tY7uN2m\n");
    const options = ["--path", "errors.md", "--path", "decisions/**", "--readme", readme, "--license", "MIT"];
    const done = await run(t, ...publish("1.0.0", ...options, "--tag", "Web", "--tag", "go", "--json"));
    expect([done.code, done.stderr]).toEqual([
      0,
      expect.stringMatching(/^Replaced a likely secret in README, line 3 \(assigned-secret\)\nTo install it/),
    ]);
    const published = JSON.parse(done.stdout);
    expect(published).toMatchObject({
      published: true,
      name: "cookie-rules",
      version: "1.0.0",
      previous: null,
      publisher: "Acme",
      license: "MIT",
      tags: ["go", "web"],
      rules: 1,
      replaced: [{ path: "README", line: 3, rule: "assigned-secret" }],
    });
    expect(published.files.map((one: { path: string }) => one.path)).toEqual([
      "README.md",
      "decisions/0001-cookies.md",
      "errors.md",
      "pack.json",
    ]);
    expect(done.stdout + done.stderr).not.toContain("Zk3pQ8wR5tY7uN2m");
    expect((await t.get("/api/marketplace/public")).body.entries).toMatchObject([
      { name: "cookie-rules", sha256: published.sha256 },
    ]);
    expect((await json(t, ...publish("1.1.0"))).previous).toBe("1.0.0");
  });

  it("are only shown with --dry-run, and refused with a certain secret or an old version", async () => {
    const { t, publish } = await start();
    expect(await json(t, ...publish("1.0.0", "--dry-run"))).toMatchObject({ published: false });
    expect(t.count("packs")).toBe(0);
    await json(t, ...publish("1.0.0"));
    const old = await run(t, ...publish("1.0.0"));
    expect([old.code, old.stdout, old.stderr]).toEqual([1, "", expect.stringContaining("is not above 1.0.0")]);
    const secret = `ghp_${"aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0dF3gH6"}`;
    plantInBrain(t, ERRORS + secret);
    const refused = await run(t, ...publish("1.1.0"));
    expect([refused.code, refused.stderr]).toEqual([
      1,
      expect.stringContaining(".claude/brain/errors.md, line 6 (github"),
    ]);
    expect(refused.stdout + refused.stderr).not.toContain(secret);
    expect((await run(t, "publish", "--team", "Acme")).code).toBe(2);
    expect((await run(t, ...publish("one"))).code).toBe(1);
    expect(t.count("pack_versions")).toBe(1);
  });

  it("are listed, featured, removed with a reason, brought back, and their publisher verified", async () => {
    const { t, publish } = await start();
    await json(t, ...publish("1.0.0"));
    const listed = async (...options: string[]) =>
      (await json(t, "list", ...options)).map((one: { name: string }) => one.name);
    expect([await listed(), await listed("--team", "Acme"), await listed("--search", "nothing")]).toEqual([
      ["cookie-rules"],
      ["cookie-rules"],
      [],
    ]);
    expect([
      await listed("--team", "Acme", "--search", "cookie"),
      await listed("--team", "Acme", "--search", "nothing"),
    ]).toEqual([["cookie-rules"], []]);
    const entry = async () => (await t.get("/api/marketplace/public")).body.entries[0];
    expect(await json(t, "feature", "cookie-rules")).toEqual({
      name: "cookie-rules",
      status: "featured",
      changed: true,
    });
    expect(await entry()).toMatchObject({ featured: true, rank: 10 });
    expect(await json(t, "feature", "cookie-rules")).toMatchObject({ changed: false });
    expect(await json(t, "verify", "Acme")).toMatchObject({ name: "Acme", verified: true, changed: true });
    expect(await entry()).toMatchObject({ publisher: { verified: true }, rank: 40 });
    await json(t, "verify", "Acme", "--off");
    await json(t, "unfeature", "cookie-rules");
    expect(await entry()).toMatchObject({ featured: false, rank: 10 });
    expect((await run(t, "remove", "cookie-rules")).code).toBe(2);
    await json(t, "remove", "cookie-rules", "--reason", "Names a customer.");
    expect(await entry()).toBeUndefined();
    const plain = await run(t, "list");
    expect(plain.stdout).toMatch(/^cookie-rules\t1\.0\.0\tremoved\t10\t0\tAcme$/m);
    await json(t, "restore", "cookie-rules");
    expect(await entry()).toMatchObject({ name: "cookie-rules" });
    expect(await run(t, "feature", "nothing")).toMatchObject({ code: 1, stderr: expect.stringContaining("pack list") });
  });
});

it("leaves --version to the commands that have one, and prints the program's otherwise", async () => {
  expect((await command(["--version"])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  expect((await command(["-V"])).code).toBe(0);
});
