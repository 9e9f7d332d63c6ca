import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { launch, reckon, serve, until, within } from "../faults/support/process.ts";
import { copyOf, testData } from "../faults/support/test.ts";
import { firstSchemaDirectory } from "../support/older.ts";

const PRICES = readFileSync(join(import.meta.dirname, "../support/prices.json"), "utf8");
const OTHER_PRICES = PRICES.replace('"input": 1', '"input": 9');

async function json(data: string, ...args: string[]) {
  const done = await reckon([...args, "--data", data, "--json"]);
  expect([args.join(" "), done.code, done.stderr.includes("reckon:")]).toEqual([args.join(" "), 0, false]);
  return JSON.parse(done.stdout);
}

async function finding(data: string, check: string) {
  const found = (await json(data, "doctor")) as { check: string; status: string; detail: string }[];
  return found.find((one) => one.check === check);
}

describe("own prices", () => {
  it("are in a backup, and a restore brings them back and keeps aside those that it replaces", async () => {
    const { directory } = await testData();
    const prices = join(directory, "prices.json");
    writeFileSync(prices, PRICES);
    const file = join(directory, "copy.backup");
    expect(await json(directory, "backup", file)).toMatchObject({ keys: 1 });
    expect(await json(directory, "restore", file, "--verify")).toMatchObject({ keys: 1, ownPrices: true });
    expect((await reckon(["restore", file, "--verify", "--data", directory])).stderr).toBe("It would restore.\n");
    writeFileSync(prices, OTHER_PRICES);
    const { keptAside, pricesStay } = await json(directory, "restore", file);
    expect(readFileSync(prices, "utf8")).toBe(PRICES);
    expect(readFileSync(join(keptAside, "prices.json"), "utf8")).toBe(OTHER_PRICES);
    expect(pricesStay).toBe(false);
  });

  it("stay, and that is said, when the backup has none", async () => {
    const { directory } = await testData();
    const file = join(directory, "copy.backup");
    await json(directory, "backup", file);
    expect(await json(directory, "restore", file, "--verify")).toMatchObject({ ownPrices: false });
    writeFileSync(join(directory, "prices.json"), PRICES);
    const done = await reckon(["restore", file, "--data", directory]);
    expect([done.code, done.stderr]).toEqual([0, expect.stringContaining("prices.json: the one that is there stays")]);
    expect(readFileSync(join(directory, "prices.json"), "utf8")).toBe(PRICES);
  });

  it("that cannot be read are reported by the doctor", async () => {
    const { directory } = await testData();
    expect(await finding(directory, "prices")).toMatchObject({ status: "ok", detail: expect.stringContaining("ship") });
    writeFileSync(join(directory, "prices.json"), PRICES);
    expect(await finding(directory, "prices")).toMatchObject({ status: "ok", detail: "prices.json of 2026-11-01" });
    writeFileSync(join(directory, "prices.json"), "{");
    expect(await finding(directory, "prices")).toMatchObject({
      status: "warning",
      detail: expect.stringMatching(/prices\.json is not JSON.*ship/),
    });
  });
});

describe("installers", () => {
  it("whose copy was killed are no news while it is made, a finding afterwards, and gone with the next start", async () => {
    const { directory } = await testData();
    const releases = join(directory, "releases");
    const pipe = join(directory, "Setup.exe");
    // Nobody ever writes to it: the copy stands still where it is to be killed.
    execFileSync("mkfifo", [pipe]);
    const args = ["release", "add", "--platform", "win32", "--version", "1.0.0", "--file", pipe, "--data", directory];
    const copying = launch(args);
    onTestFinished(() => void copying.child.kill("SIGKILL"));
    const partial = `.incoming-${copying.child.pid}`;
    await until("the copy has begun", () => existsSync(join(releases, partial)));
    expect(await finding(directory, "installers")).toMatchObject({ status: "ok" });
    copying.child.kill("SIGKILL");
    expect((await within(copying.exited, "the copy to end")).signal).toBe("SIGKILL");
    expect(readdirSync(releases)).toEqual([partial]);
    expect(await finding(directory, "installers")).toMatchObject({
      status: "warning",
      detail: expect.stringContaining(partial),
    });
    expect(readdirSync(releases)).toEqual([partial]);
    await (await serve(directory)).end();
    expect(readdirSync(releases)).toEqual([]);
    expect(await finding(directory, "installers")).toMatchObject({ status: "ok" });
  });

  it("whose file is gone are named by the doctor, as by the list", async () => {
    const { directory } = await testData();
    writeFileSync(join(directory, "Setup.exe"), "an installer");
    const add = ["release", "add", "--platform", "win32", "--version", "1.2.0", "--file", join(directory, "Setup.exe")];
    await json(directory, ...add);
    expect(await finding(directory, "installers")).toMatchObject({ status: "ok" });
    rmSync(join(directory, "releases"), { recursive: true });
    expect(await finding(directory, "installers")).toMatchObject({
      status: "warning",
      detail: expect.stringContaining("win32 1.2.0 is missing"),
    });
    expect(await finding(await firstSchemaDirectory(), "installers")).toMatchObject({ status: "ok" });
  });
});

it.skipIf(process.platform !== "linux")("a backup that fails leaves nothing behind", async () => {
  const data = copyOf(await testData());
  const folder = join(data.directory, "out");
  mkdirSync(folder);
  // A file that can be opened but not read is found when the database is already copied.
  mkdirSync(join(data.directory, "retired-keys"));
  execFileSync("ln", ["-s", "/proc/self/mem", join(data.directory, "retired-keys/odd.pem")]);
  const done = await reckon(["backup", join(folder, "copy"), "--data", data.directory]);
  expect([done.code, readdirSync(folder)]).toEqual([1, []]);
});
