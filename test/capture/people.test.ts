import { spawnSync } from "node:child_process";
import { chownSync, readdirSync } from "node:fs";
import { expect, it } from "vitest";
import { newFolder } from "../support/folder.ts";
import { MAIN } from "../support/program.ts";

/** A user id without an entry. */
const SOMEBODY = 54_321;

const cannot = process.getuid?.() === 0 ? false : "other users need root";
if (cannot) console.warn(`Skipped: ${cannot}`);

function folderOf(uid: number): string {
  const folder = newFolder();
  chownSync(folder, uid, uid);
  return folder;
}

const reckon = (args: readonly string[], cwd: string, env: Record<string, string>, uid = 0) =>
  spawnSync(process.execPath, [MAIN, ...args], { cwd, uid, gid: uid, encoding: "utf8", env: { PATH: "/bin", ...env } });

it.skipIf(cannot)("sudo in a person's home folder leaves nothing of root's there", () => {
  const home = folderOf(SOMEBODY);
  const sudo = { HOME: home, SUDO_UID: String(SOMEBODY), SUDO_USER: "kim" };
  for (const args of [["connect", "http://127.0.0.1:9", "CODE", "--yes"], ["pause"], ["status"]]) {
    const { status, stderr } = reckon(["agent", ...args], home, sudo);
    expect({ status, stderr }).toMatchObject({ status: 1, stderr: expect.stringContaining("without sudo") });
    expect(readdirSync(home)).toEqual([]);
  }
  // The home folder may be root's as well.
  chownSync(home, 0, 0);
  expect(reckon(["agent", "status"], home, sudo).status).toBe(0);
});

it.skipIf(cannot)("without a home folder the client says what to set, and uses no other folder", () => {
  const [home, work] = [folderOf(SOMEBODY), folderOf(SOMEBODY)];
  for (const env of [{}, { HOME: "" }] as Record<string, string>[]) {
    const { stderr } = reckon(["agent", "pause"], work, env, SOMEBODY);
    expect(stderr).toContain("set HOME");
    expect(readdirSync(work)).toEqual([]);
  }
  expect(reckon(["agent", "pause"], work, { HOME: home }, SOMEBODY)).toMatchObject({ status: 0, stderr: "" });
  expect(readdirSync(home)).toEqual([".local"]);
});
