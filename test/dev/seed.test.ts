import { createSign, createVerify } from "node:crypto";
import {
  chmodSync,
  copyFileSync,
  linkSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readSigningKey } from "../../src/kit/jwt.ts";
import { keyFolder, localSigningKey } from "../../src/surfaces/dev/key.ts";
import { keepTemplate, useTemplate } from "../../src/surfaces/dev/template.ts";
import { startLocal } from "../support/dev.ts";
import { newFolder } from "../support/folder.ts";
import { TestClock } from "../support/instance.ts";

describe("a seed", () => {
  it("gives the same credentials every time, with demo data or without", async () => {
    const first = await startLocal({ seed: "one" });
    const second = await startLocal({ seed: "one" });
    const full = await startLocal({ seed: "one", empty: false });
    expect(second.local.credentials).toEqual(first.local.credentials);
    expect(full.local.credentials).toEqual(first.local.credentials);
    expect((await first.get("/_dev/clock")).body.clock.now).toBe("2026-11-21T08:00:00.000Z");
  });

  it("gives the same demo data and the same replies to the same requests", async () => {
    const told = [];
    for (let i = 0; i < 2; i++) {
      const t = await startLocal({ seed: "one", empty: false, frozen: true });
      const { body: state } = await t.get("/_dev/state");
      const json = { code: t.local.credentials.connectCode, consent: { version: "1" } };
      const { body: bound } = await t.post("/api/connect/exchange", { json });
      const search = await t.get("/api/brain/search?q=rounding", { token: bound.deviceToken });
      told.push({ state, bound, hits: search.body });
    }
    expect(told[1]).toEqual(told[0]);
    expect(told[0]?.hits.hits.length).toBeGreaterThan(0);
  });

  it("of another text gives others, and none gives new ones every time", async () => {
    const all = [];
    for (const seed of ["one", "two", undefined, undefined])
      all.push((await startLocal({ seed, program: undefined })).local.credentials);
    for (const member of [
      "teamId",
      "deviceId",
      "deviceToken",
      "connectCode",
      "userId",
      "password",
      "readToken",
    ] as const)
      expect([member, new Set(all.map((one) => one[member])).size]).toEqual([member, 4]);
  });

  it("gives the same tokens at another address, but for the one that names it", async () => {
    const here = (await startLocal({ seed: "one" })).local.credentials;
    const there = (await startLocal({ seed: "one", baseUrl: "http://127.0.0.1:5000" })).local.credentials;
    expect(there).toEqual({ ...here, baseUrl: "http://127.0.0.1:5000", cliToken: expect.any(String) });
    expect(there.cliToken).not.toBe(here.cliToken);
  });

  it("gives a sound RSA key of 3072 bits, the same one each time", async () => {
    const pem = await localSigningKey("a seed", undefined);
    expect(await localSigningKey("another", undefined)).toBe(pem);
    expect(await localSigningKey(undefined, undefined)).not.toBe(pem);
    const key = await readSigningKey(pem);
    expect(key.privateKey.asymmetricKeyDetails).toMatchObject({ modulusLength: 3072, publicExponent: 65537n });
    const signature = createSign("RSA-SHA256").update("text").sign(key.privateKey);
    expect(createVerify("RSA-SHA256").update("text").verify(key.publicPem, signature)).toBe(true);
  });
});

describe("a directory", () => {
  it("goes on where its last instance stopped, clock included", async () => {
    const directory = newFolder();
    const first = await startLocal({ directory, seed: "kept", frozen: true });
    const { deviceToken } = first.local.credentials;
    await first.post("/api/telemetry/ingest", { token: deviceToken, json: { entries: [{ seq: 1, payload: {} }] } });
    await first.control("/_dev/clock", { advance: "3d" });
    await first.close();
    const second = await startLocal({ directory, frozen: true });
    const { body } = await second.get("/_dev/state");
    expect(body).toMatchObject({
      credentials: first.local.credentials,
      seed: "kept",
      clock: { now: "2026-11-24T08:00:00.000Z", frozen: true },
      counts: { telemetryEntries: 1 },
    });
    const reset = await second.control("/_dev/reset");
    expect(reset).toMatchObject({ clock: { now: "2026-11-21T08:00:00.000Z" }, counts: { telemetryEntries: 0 } });
  });

  it("has what was kept before until the new is whole, so that an instance may be killed while it stops", async () => {
    const directory = newFolder();
    const first = await startLocal({ directory, seed: "kept" });
    const [mark, before] = ["reckon-dev.json", "before.json"].map((name) => join(directory, name)) as [string, string];
    linkSync(mark, before);
    await first.close();
    const clocks = [before, mark].map((file) => JSON.parse(readFileSync(file, "utf8")).clock);
    expect(clocks).toEqual([null, expect.any(Object)]);
  });

  it("that moved to another port gets a CLI token that is good there", async () => {
    const directory = newFolder();
    const first = await startLocal({ directory });
    await first.close();
    const second = await startLocal({ directory, baseUrl: "http://127.0.0.1:5001" });
    const { cliToken, deviceToken } = second.local.credentials;
    expect((await second.get("/api/cli/me", { token: cliToken })).status).toBe(200);
    expect((await second.get("/api/cli/me", { token: first.local.credentials.cliToken })).status).toBe(401);
    expect(deviceToken).toBe(first.local.credentials.deviceToken);
  });

  it("is seeded once: with another seed it is refused", async () => {
    const directory = newFolder();
    await (await startLocal({ directory, seed: "one" })).close();
    await expect(startLocal({ directory, seed: "two" })).rejects.toThrow("was seeded with one");
  });

  it("whose first start was cut short is seeded anew", async () => {
    const directory = newFolder();
    await (await startLocal({ directory, seed: "one" })).close();
    writeFileSync(join(directory, "reckon-dev.json"), '{"credentials":{"baseU');
    const t = await startLocal({ directory, seed: "two" });
    expect((await t.get("/api/policy", { token: t.local.credentials.deviceToken })).status).toBe(200);
  });

  it("of a real server is refused and left as it is", async () => {
    const directory = newFolder();
    writeFileSync(join(directory, "reckon.db"), "a database");
    await expect(startLocal({ directory })).rejects.toThrow("real server");
    expect(statSync(join(directory, "reckon.db")).size).toBe(10);
  });
});

describe("a kept seed", () => {
  const kept = (cache: string) => readdirSync(cache).filter((name) => name.startsWith("seed-"));

  it("is what the next start of the same program begins with, demo data and all", async () => {
    const cache = newFolder();
    const told = [];
    const logs = [];
    for (let i = 0; i < 2; i++) {
      const t = await startLocal({ seed: "one", empty: false, program: "build 1", cache, frozen: true });
      told.push((await t.get("/_dev/state")).body);
      logs.push((await t.get("/ledger/checkpoint")).body.split("\n").slice(0, 2));
      expect(kept(cache).length).toBe(1);
    }
    expect(told[1]).toEqual(told[0]);
    expect(logs[1]).toEqual(logs[0]);
    expect(told[0].counts.deliveries).toBeGreaterThan(50);
    for (const name of kept(cache)) expect(statSync(join(cache, name)).mode & 0o777).toBe(0o600);
  });

  it("serves no other program, seed, start or size, and none without a seed", async () => {
    const cache = newFolder();
    const one = { seed: "one", program: "build 1", cache };
    const first = (await startLocal(one)).local.credentials;
    const path = join(cache, kept(cache)[0] as string);
    // Seen wherever this seed is used.
    writeFileSync(path, readFileSync(path, "latin1").replace(first.password, "tampered"), "latin1");
    const password = async (options: object) => (await startLocal({ ...one, ...options })).local.credentials.password;
    expect(await password({})).toBe("tampered");
    for (const other of [
      { program: "build 2" },
      { program: undefined },
      { seed: "two" },
      { seed: undefined },
      { startAt: 1e12 },
      { empty: false },
    ])
      expect(await password(other)).not.toBe("tampered");
    expect(kept(cache).length).toBe(6);
  });

  it("gives instances without a seed their team for some hours, but never their tokens", async () => {
    const cache = newFolder();
    const clock = new TestClock();
    const start = async () => (await startLocal({ program: "build 1", cache, clock })).local.credentials;
    const [first, second] = [await start(), await start()];
    expect(second.teamId).toBe(first.teamId);
    for (const member of ["deviceToken", "connectCode", "cliToken", "readToken"] as const)
      expect([member, second[member] === first[member]]).toEqual([member, false]);
    clock.advance(5 * 60 * 60_000);
    expect((await start()).teamId).toBe(first.teamId);
    clock.advance(60 * 60_000);
    const later = await startLocal({ program: "build 1", cache, clock });
    expect(later.local.credentials.teamId).not.toBe(first.teamId);
    expect((await later.get("/api/policy", { token: later.local.credentials.deviceToken })).status).toBe(200);
  });

  it("that is damaged is made anew", async () => {
    const cache = newFolder();
    const one = { seed: "one", program: "build 1", cache };
    const first = (await startLocal(one)).local.credentials;
    for (const name of kept(cache)) writeFileSync(join(cache, name), "{");
    const t = await startLocal(one);
    expect(t.local.credentials).toEqual(first);
    expect((await t.get("/api/policy", { token: first.deviceToken })).status).toBe(200);
  });

  it("is left alone once the key is gone that it was signed with", async () => {
    const cache = newFolder();
    const start = () => startLocal({ program: "build 1", cache, clock: new TestClock() });
    await start();
    rmSync(join(cache, "unseeded.pem"));
    const t = await start();
    expect((await t.get("/api/policy", { token: t.local.credentials.deviceToken })).status).toBe(200);
    expect(kept(cache).length).toBe(2);
  });

  it("is of one of several instances that were started at the same time, database and team", async () => {
    const [cache, others] = [newFolder(), newFolder()];
    const start = (folder: string) => startLocal({ program: "build 1", cache: folder, clock: new TestClock() });
    await start(cache);
    copyFileSync(join(cache, "unseeded.pem"), join(others, "unseeded.pem"));
    await start(others);
    for (const name of kept(others).sort()) {
      copyFileSync(join(others, name), join(cache, name));
      const t = await start(cache);
      expect([name, (await t.get("/api/policy", { token: t.local.credentials.deviceToken })).status]).toEqual([
        name,
        200,
      ]);
    }
  });

  it("is dropped for newer ones, the oldest first", () => {
    const cache = newFolder();
    const key = (n: number) => ({ program: "build 1", signer: "k", seed: null, startAt: n, empty: true });
    const team = { teamId: "t", user: { id: "u", email: "e" }, password: "p" };
    for (let n = 0; n < 12; n++) {
      keepTemplate(cache, key(n), Buffer.from("a database"), team, cache);
      for (const name of kept(cache)) if (n < 4) utimesSync(join(cache, name), 1 + n, 1 + n);
    }
    expect(kept(cache).length).toBe(8);
    const there = (n: number) => useTemplate(cache, key(n), newFolder()) !== undefined;
    expect([there(0), there(3), there(4), there(11)]).toEqual([false, false, true, true]);
  });
});

describe("the folder of keys", () => {
  const name = () => `reckon-keys-${userInfo().uid}`;

  it("is this user's alone, whatever it was before", () => {
    const below = newFolder();
    const made = keyFolder(below) as string;
    expect(statSync(made).mode & 0o777).toBe(0o700);
    chmodSync(made, 0o755);
    expect(keyFolder(below)).toBe(made);
    expect(statSync(made).mode & 0o777).toBe(0o700);
  });

  it("is not used when something else stands in its place", () => {
    const below = newFolder();
    symlinkSync(newFolder(), join(below, name()));
    expect(keyFolder(below)).toBeUndefined();
  });
});
