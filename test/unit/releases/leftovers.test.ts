import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, renameSync, truncateSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { DAY_MS } from "../../../src/kit/clock.ts";
import { COMMAND_LINE } from "../../../src/platform/audit/audit.ts";
import { addRelease, examineInstallers, removeLeftovers } from "../../../src/share/releases/releases.ts";
import { startInstance, type TestInstance } from "../../support/instance.ts";
import { installer } from "../../support/site.ts";

const folderOf = (t: TestInstance) => join(t.directory, "releases");

/** A file in the folder of installers, last written so many days before the instance's now. */
function put(t: TestInstance, name: string, daysAgo = 0): string {
  mkdirSync(folderOf(t), { recursive: true });
  const path = join(folderOf(t), name);
  writeFileSync(path, "bytes");
  const at = new Date(t.clock.now() - daysAgo * DAY_MS);
  utimesSync(path, at, at);
  return name;
}

/** The id of a process that runs until the test ends. */
function livingPid(): number {
  const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "ignore" });
  onTestFinished(() => void child.kill("SIGKILL"));
  return child.pid as number;
}

async function deadPid(): Promise<number> {
  const child = spawn(process.execPath, ["-e", ""], { stdio: "ignore" });
  await new Promise((resolve) => child.on("exit", resolve));
  return child.pid as number;
}

const OLD = "a".repeat(128);
const NEW = "b".repeat(128);

it("removes copies whose process is gone, old ones, and old files that no release names, and nothing else", async () => {
  const t = await startInstance();
  await addRelease(t.instance.core, { platform: "win32", version: "1.0.0", file: installer(t) }, COMMAND_LINE);
  const [kept = ""] = readdirSync(folderOf(t));
  const long = new Date(0);
  utimesSync(join(folderOf(t), kept), long, long);
  const living = put(t, `.incoming-${livingPid()}`);
  for (const name of [`.incoming-${await deadPid()}`, `.incoming-${process.pid}`]) put(t, name);
  put(t, `.incoming-${livingPid()}`, 2);
  put(t, OLD, 2);
  put(t, NEW, 0.5);
  put(t, "notes.txt", 400);
  removeLeftovers(t.instance.core);
  expect(readdirSync(folderOf(t)).sort()).toEqual([living, NEW, kept, "notes.txt"].sort());
  expect(t.log.map((line) => JSON.parse(line))).toContainEqual(
    expect.objectContaining({ event: "installer_leftovers_removed", count: 4 }),
  );
});

it("names missing, incomplete and leftover files, except a copy that is being made", async () => {
  const t = await startInstance();
  const { core } = t.instance;
  expect(examineInstallers(core)).toEqual({ missing: [], leftovers: [] });
  await addRelease(core, { platform: "win32", version: "1.0.0", file: installer(t, "one.exe") }, COMMAND_LINE);
  const [first = ""] = readdirSync(folderOf(t));
  await addRelease(core, { platform: "win32", version: "2.0.0", file: installer(t, "two.exe") }, COMMAND_LINE);
  const second = readdirSync(folderOf(t)).find((name) => name !== first) as string;
  const elsewhere = { url: "https://dl.example.com/a.exe", file: installer(t, "three.exe") };
  await addRelease(core, { platform: "win32", version: "3.0.0", ...elsewhere }, COMMAND_LINE);
  expect(examineInstallers(core)).toEqual({ missing: [], leftovers: [] });
  renameSync(join(folderOf(t), first), join(t.directory, "away"));
  truncateSync(join(folderOf(t), second), 100);
  put(t, `.incoming-${livingPid()}`);
  const left = [put(t, `.incoming-${await deadPid()}`), put(t, NEW), put(t, "notes.txt")];
  const found = examineInstallers(core);
  expect(found.missing).toEqual(["win32 1.0.0", "win32 2.0.0"]);
  expect([...found.leftovers].sort()).toEqual(left.sort());
});

it("makes room for a new copy, and for a server that starts", async () => {
  const t = await startInstance();
  const stale = join(folderOf(t), put(t, OLD, 2));
  await addRelease(t.instance.core, { platform: "win32", version: "1.0.0", file: installer(t) }, COMMAND_LINE);
  expect([existsSync(stale), readdirSync(folderOf(t)).length]).toEqual([false, 1]);
  put(t, OLD, 2);
  await t.close();
  await startInstance({ directory: t.directory, clock: t.clock });
  expect([existsSync(stale), readdirSync(folderOf(t)).length]).toEqual([false, 1]);
});

it("does not keep a server from starting when the folder cannot be read", async () => {
  const t = await startInstance();
  await t.close();
  writeFileSync(folderOf(t), "in the way");
  const again = await startInstance({ directory: t.directory, clock: t.clock });
  expect(again.log.some((line) => line.includes("installer_leftovers_stay"))).toBe(true);
});
