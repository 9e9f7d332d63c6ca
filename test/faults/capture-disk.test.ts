import { rmSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { bind } from "../../src/capture/bind.ts";
import { readStatus } from "../../src/capture/capture.ts";
import { readCredentials } from "../../src/capture/state.ts";
import { DAY_MS } from "../../src/kit/clock.ts";
import { expectAgreement, startAgent } from "../support/capture.ts";
import { type Mount, mountTmpfs, noMounts } from "./support/disk.ts";
import { reckon } from "./support/process.ts";

function smallDisk(size: string): Mount {
  const disk = mountTmpfs(size);
  onTestFinished(() => disk.unmount());
  return disk;
}

/** Takes all but a few KB of what is free. @returns gives it back */
function fill({ path }: Mount, leaving = 8 * 1024): () => void {
  const { bavail, bsize } = statfsSync(path);
  const file = join(path, "others");
  writeFileSync(file, Buffer.alloc(Math.max(0, bavail * bsize - leaving)));
  return () => rmSync(file);
}

it.skipIf(noMounts)("a full disk loses nothing: what was not recorded is read once there is room", async () => {
  const disk = smallDisk("8m");
  const a = await startAgent({ state: join(disk.path, "agent") });
  a.work("s1", 2);
  await a.pass();
  const free = fill(disk);
  const offsets = () => a.capture.db.prepare("SELECT path, offset FROM sources").all();
  const before = offsets();
  a.work("s1", 300, 2);
  await expect(a.pass()).rejects.toThrow(/full/);
  expect(offsets()).toEqual(before);
  free();
  a.reopen();
  await a.pass();
  expectAgreement(a);
  expect(readStatus(a.capture).waiting).toMatchObject({ entries: 0, sessions: 0 });
});

it.skipIf(noMounts)("a full disk does not lose the binding when the token is replaced", async () => {
  const disk = smallDisk("8m");
  const a = await startAgent({ state: join(disk.path, "agent") });
  a.work("s1", 1);
  await a.pass();
  const token = readCredentials(a.capture.places)?.token;
  a.advance(61 * DAY_MS);
  const free = fill(disk, 0);
  await a.pass().catch(() => {});
  expect(a.server.asked).not.toContain("/api/connect/rotate");
  free();
  a.advance(DAY_MS);
  await a.pass();
  expect(readCredentials(a.capture.places)?.token).not.toBe(token);
  a.work("s1", 1, 1);
  expect(await a.pass()).toMatchObject({ stopped: undefined });
  expectAgreement(a);
});

it.skipIf(noMounts)(
  "a disk that is nearly full neither wastes the connect code nor leaves a device that no machine uses",
  async () => {
    const disk = smallDisk("8m");
    const a = await startAgent({ state: join(disk.path, "agent"), connected: false });
    const binding = { url: a.server.url, code: await a.server.code() };
    const devices = () => a.server.rows("SELECT count(*) AS n FROM devices");
    const before = devices();
    const free = fill(disk, 24 * 1024);
    await expect(bind(a.capture, binding)).rejects.toThrow(/ENOSPC|full/);
    expect(devices()).toEqual(before);
    free();
    await bind(a.capture, binding);
    expect(readCredentials(a.capture.places)?.deviceId).toBeTypeOf("string");
  },
);

it.skipIf(noMounts)("a disk without any space left is named as the reason", async () => {
  const disk = smallDisk("8m");
  const state = join(disk.path, "agent");
  const a = await startAgent({ state });
  a.work("s1", 1);
  a.capture.close();
  const free = fill(disk, 0);
  const credentials = readCredentials(a.capture.places);
  const devices = a.server.rows("SELECT * FROM devices");
  for (const command of [["run"], ["status"], ["disconnect"], ["disconnect", "--force"]]) {
    const { code, stderr } = await reckon(["agent", ...command], { env: { HOME: a.home, RECKON_AGENT_HOME: state } });
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /agent\.db cannot be written .*: the disk is full, or what of it you may use\. Make room first: .* nor does "disconnect"/,
    );
  }
  expect(readCredentials(a.capture.places)).toEqual(credentials);
  expect(a.server.rows("SELECT * FROM devices")).toEqual(devices);
  free();
  a.reopen();
  await a.pass();
  expectAgreement(a);
});

it.skipIf(noMounts)(
  "a folder that cannot be written to is named as the reason, and holds up nothing for good",
  async () => {
    const disk = smallDisk("8m");
    const state = join(disk.path, "agent");
    const a = await startAgent({ state });
    a.work("s1", 1);
    a.capture.close();
    disk.remount("ro");
    const env = { HOME: a.home, RECKON_AGENT_HOME: state };
    const { code, stderr } = await reckon(["agent", "run"], { env });
    expect(code).not.toBe(0);
    expect(stderr).toMatch(/read-?only/i);
    expect(stderr).not.toMatch(/\n\s+at /);
    // The hook that agents call succeeds all the same.
    expect(await reckon(["agent", "hook", "claude-code", "Stop"], { env, input: "{}" })).toMatchObject({
      code: 0,
      stderr: "",
    });
    disk.remount("rw");
    a.reopen();
    await a.pass();
    expectAgreement(a);
  },
);
