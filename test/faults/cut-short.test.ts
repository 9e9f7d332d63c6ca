import { spawnSync } from "node:child_process";
import { cpSync, existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createTeam } from "../../src/identity/teams/teams.ts";
import { COMMAND_LINE } from "../../src/platform/audit/audit.ts";
import { newFolder } from "../support/folder.ts";
import { startInstance, TestClock } from "../support/instance.ts";
import { firstSchemaDirectory } from "../support/older.ts";
import { command } from "../support/remote.ts";
import { rowsOf, withDirectory } from "./support/data.ts";
import { ask } from "./support/http.ts";
import { launch, reckon, serve, startRefused, until, within } from "./support/process.ts";
import { copyOf, servedData, testData } from "./support/test.ts";

/** strace kills or delays a process at a chosen system call, so every moment between two of them can be the last. */
const noStrace =
  process.platform !== "linux" || spawnSync("strace", ["-qq", "-o", "/dev/null", "true"]).status !== 0
    ? "strace is not installed or not allowed"
    : undefined;
if (noStrace) console.log(`tests of commands cut short are skipped: ${noStrace}`);

const at = (call: string, what: string) => [
  "strace",
  "-f",
  "-qq",
  "-o",
  "/dev/null",
  "-e",
  `trace=${call}`,
  "-e",
  `inject=${call}:${what}`,
];

/** Moments at which names change or contents become durable: the process dies as it is about to make the call the n-th time. */
const CUTS: readonly (readonly [call: string, times: readonly number[]])[] = [
  ["rename", [1, 2, 3, 4, 5]],
  ["fdatasync", [2, 7]],
  ["unlink", [1, 2]],
];

/** Runs a command once for every moment, killed there. `prepare` gives its arguments, `judge` looks at what it left. */
async function cutEverywhere(
  prepare: () => Promise<readonly string[]>,
  judge: (when: string, done: boolean) => Promise<void>,
): Promise<void> {
  let killed = 0;
  for (const [call, times] of CUTS) {
    for (const time of times) {
      const args = await prepare();
      const cut = launch(args, { under: at(call, `signal=SIGKILL:when=${time}`) });
      const { code } = await within(cut.exited, args.join(" "));
      if (code !== 0) killed++;
      await judge(`killed at ${call} ${time}`, code === 0);
      // The call is not made that often: later times would only run the command to its end again.
      if (code === 0) break;
    }
  }
  expect(killed, "strace killed too seldom to tell anything").toBeGreaterThan(2);
}

/** Starts on what a killed command left, in this process: a process of its own would take ten times as long. */
function started(directory: string) {
  const clock = new TestClock();
  clock.jump(Date.now() - clock.now());
  return startInstance({ directory, clock });
}

/** Keys that a rotation made and did not put in place. */
const leftKeys = (directory: string) => readdirSync(directory).filter((name) => /^signing-key\..+\.pem$/.test(name));

const teamsIn = (directory: string) =>
  rowsOf(directory, "SELECT name FROM teams ORDER BY name").map((row) => row.name as string);

describe.skipIf(noStrace)("a command killed at any step", () => {
  it("restore: the old state or the new one is there, or the next start says what to do, and a second try puts it right", async () => {
    const other = await testData({ devices: 1 });
    const smaller = join(other.directory, "smaller.backup");
    expect((await command(["backup", smaller, "--data", other.directory])).code).toBe(0);
    const used = await testData({ devices: 3, codes: 200 });
    expect((await command(["backup", join(used.directory, "copy.backup"), "--data", used.directory])).code).toBe(0);
    await withDirectory(used.directory, (core) => createTeam(core, "Later", COMMAND_LINE));
    let data = used;
    await cutEverywhere(
      async () => {
        data = copyOf(used);
        return ["restore", join(data.directory, "copy.backup"), "--data", data.directory];
      },
      async (when, done) => {
        const started = await startRefused(data.directory);
        if (started.stdout === "") {
          expect(started.stderr, when).toMatch(/reckon restore/);
          expect(existsSync(join(data.directory, "reckon.db")), when).toBe(false);
        } else expect(done ? [["Acme"]] : [["Acme"], ["Acme", "Later"]], when).toContainEqual(teamsIn(data.directory));
        // A database may be 2 GB large, so no half of one may stay unnoticed; whatever is called put aside is whole.
        const names = readdirSync(data.directory, { recursive: true, encoding: "utf8" });
        if (started.stdout !== "")
          expect(
            names.filter((name) => /restoring|partial/.test(name)),
            when,
          ).toEqual([]);
        for (const name of names.filter((one) => /replaced-[^/]*Z$/.test(one)))
          expect(teamsIn(join(data.directory, name)), when).toEqual(["Acme", "Later"]);
        // Another backup this time: nothing of the first try may get into it.
        const again = await command(["restore", smaller, "--data", data.directory]);
        expect(again.code, `${when}: ${again.stderr}`).toBe(0);
        expect(rowsOf(data.directory, "SELECT count(*) AS n FROM devices"), when).toEqual([{ n: 1 }]);
      },
    );
  });

  it("restore: what it puts aside, retired keys too, is on the disk before the database is replaced", async () => {
    const data = await testData({ devices: 1 });
    expect((await command(["key", "rotate", "--data", data.directory])).code).toBe(0);
    const file = join(data.directory, "copy.backup");
    expect((await command(["backup", file, "--data", data.directory])).code).toBe(0);
    const trace = join(data.directory, "calls");
    const restore = launch(["restore", file, "--json", "--data", data.directory], {
      under: ["strace", "-f", "-qq", "-y", "-o", trace, "-e", "trace=fsync,fdatasync,rename"],
    });
    expect((await within(restore.exited, "the restore")).code, restore.stderr()).toBe(0);
    const calls = readFileSync(trace, "utf8").split("\n");
    const replaced = calls.findIndex((call) => /rename\(.*restoring\.db.*reckon\.db/.test(call));
    const flushed = calls
      .slice(0, replaced)
      .flatMap((call) => /sync\(\d+<(.*)>\)/.exec(call)?.[1]?.replace(".partial", "") ?? []);
    const { keptAside } = JSON.parse(restore.stdout());
    const names = readdirSync(keptAside, { recursive: true, encoding: "utf8" });
    expect(names).toEqual(expect.arrayContaining(["reckon.db", "signing-key.pem", "retired-keys"]));
    expect(names.filter((name) => name.startsWith("retired-keys/"))).toHaveLength(1);
    expect(flushed).toEqual(expect.arrayContaining([keptAside, ...names.map((name) => join(keptAside, name))]));
  });

  it("key rotate: the server starts, signs, and publishes every key that it ever signed with", async () => {
    const used = await testData({ devices: 1 });
    await (await serve(used.directory)).end();
    const before = rowsOf(used.directory, "SELECT kid FROM signing_keys").map((row) => row.kid);
    let data = used;
    await cutEverywhere(
      async () => {
        data = copyOf(used);
        return ["key", "rotate", "--data", data.directory];
      },
      async (when) => {
        const { directory, devices } = data;
        const server = await started(directory);
        const license = await server.get("/api/license", { token: devices[0]?.token as string });
        expect(license.status, when).toBe(200);
        expect(leftKeys(directory), when).toEqual([]);
        const { keys } = (await server.get("/.well-known/jwks.json")).body;
        expect(
          keys.map((key: { kid: string }) => key.kid),
          when,
        ).toEqual(expect.arrayContaining(before));
        await server.close();
      },
    );
  });

  it("backup: a file under the name asked for restores, and a second try under that name works", async () => {
    const data = await testData({ devices: 1, codes: 200 });
    const file = join(data.directory, "copy.backup");
    let round = 0;
    await cutEverywhere(
      async () => {
        await withDirectory(data.directory, (core) => createTeam(core, `Round ${++round}`, COMMAND_LINE));
        return ["backup", file, "--data", data.directory];
      },
      async (when) => {
        const verify = async () => {
          const checked = await command(["restore", file, "--verify", "--json", "--data", data.directory]);
          expect(checked.code, `${when}: ${checked.stderr}`).toBe(0);
          expect(JSON.parse(checked.stdout).teams, when).toBe(round + 1);
          rmSync(file);
        };
        if (existsSync(file)) await verify();
        const again = await command(["backup", file, "--data", data.directory]);
        expect(again.code, `${when}: ${again.stderr}`).toBe(0);
        await verify();
        expect(
          readdirSync(data.directory).filter((name) => name.includes(".partial")),
          when,
        ).toEqual([]);
      },
    );
  });
});

describe.skipIf(noStrace)("a scheduled backup killed at any step", () => {
  it("has its name only when it restores, and the next one is made", async () => {
    const data = await testData({ devices: 1, codes: 200 });
    const file = join(data.directory, "reckon-2026-11-21T08-00-00-000Z.db");
    const make = ["__backup", file, "--data", data.directory];
    await cutEverywhere(
      async () => make,
      async (when) => {
        const verify = async () => {
          const checked = await command(["restore", file, "--verify", "--data", data.directory]);
          expect(checked.code, `${when}: ${checked.stderr}`).toBe(0);
          rmSync(file);
        };
        if (existsSync(file)) await verify();
        const again = await reckon(make);
        expect(again.code, `${when}: ${again.stderr}`).toBe(0);
        await verify();
        expect(
          readdirSync(data.directory).filter((name) => /partial|unverified/.test(name)),
          when,
        ).toEqual([]);
      },
    );
  });
});

it.skipIf(noStrace)("a scheduled backup is made where a service may not change priorities", async () => {
  const data = await testData({ devices: 1 });
  const file = join(data.directory, "reckon-2026-11-21T08-00-00-000Z.db");
  const made = launch(["__backup", file, "--data", data.directory], { under: at("setpriority", "error=EPERM") });
  expect([await within(made.exited, "the backup"), made.stderr()]).toEqual([{ code: 0, signal: null }, ""]);
  expect((await command(["restore", file, "--verify", "--data", data.directory])).code).toBe(0);
});

describe.skipIf(noStrace)("a server killed at any step of an upgrade", () => {
  it("has put aside what restores or nothing, and the next start upgrades and leaves no half of a backup", async () => {
    const older = await firstSchemaDirectory();
    let killed = 0;
    for (const [call, time] of [
      ["fsync", 1],
      ["rename", 1],
      ["fsync", 3],
      ["fdatasync", 2],
      ["fdatasync", 6],
      ["unlink", 1],
    ] as const) {
      const when = `killed at ${call} ${time}`;
      const directory = newFolder();
      cpSync(older, directory, { recursive: true });
      const cut = launch(["serve", "--data", directory, "--port", "0"], {
        under: at(call, `signal=SIGKILL:when=${time}`),
      });
      let gone = false;
      void cut.exited.then(() => {
        gone = true;
      });
      await until(`${when}, or listening`, () => gone || cut.stdout() !== "");
      const pid = /"event":"started".*"pid":(\d+)/.exec(cut.stderr())?.[1];
      if (cut.stdout() === "") killed++;
      else process.kill(Number(pid), "SIGKILL");
      await within(cut.exited, when);
      const backups = join(directory, "backups");
      const whole = () => (existsSync(backups) ? readdirSync(backups).filter((name) => name.endsWith(".db")) : []);
      for (const name of whole()) {
        const checked = await command(["restore", join(backups, name), "--verify", "--json", "--data", directory]);
        expect(checked.code, `${when}: ${checked.stderr}`).toBe(0);
        expect(JSON.parse(checked.stdout), when).toMatchObject({ schema: 1, keys: 1, deliveries: 3 });
      }
      await (await started(directory)).close();
      expect(readdirSync(backups), when).toEqual(whole());
      expect((await command(["ledger", "verify", "--data", directory])).code, when).toBe(0);
    }
    expect(killed, "strace killed too seldom to tell anything").toBeGreaterThan(3);
  });
});

describe.skipIf(noStrace)("a key rotation held up between the database and the file", () => {
  it("ends well although the running server finishes it first", async () => {
    const { data, server } = await servedData();
    const before = JSON.parse((await ask(server.port, { path: "/api/license/pubkey" })).body).pubkey;
    const held = launch(["key", "rotate", "--data", data.directory], {
      under: at("rename", "delay_enter=1500000:when=3+"),
    });
    const changed = async () => {
      const reply = await ask(server.port, { path: "/api/license/pubkey" });
      expect(reply.status).toBe(200);
      return JSON.parse(reply.body).pubkey !== before;
    };
    await until("the server signs with the new key", changed);
    const { code } = await within(held.exited, "the rotation");
    expect(code, held.stderr()).toBe(0);
    expect(held.stderr()).not.toContain("ENOENT");
    await server.end();
    expect((await command(["doctor", "--data", data.directory])).code).toBe(0);
  });

  it("two key rotations at once: the key that the database names last is the one in place", async () => {
    const data = await testData({ devices: 1 });
    await (await serve(data.directory)).end();
    const rotate = (delay: string) =>
      launch(["key", "rotate", "--data", data.directory], { under: at("rename", `delay_enter=${delay}`) });
    const first = rotate("2500000:when=2");
    await until("the first made its key", () => leftKeys(data.directory).length === 1);
    const second = rotate("3500000:when=3");
    for (const one of [first, second]) expect((await within(one.exited, "a rotation")).code, one.stderr()).toBe(0);
    expect(rowsOf(data.directory, "SELECT kid FROM signing_keys")).toHaveLength(3);
    const server = await serve(data.directory);
    const license = await ask(server.port, { path: "/api/license", token: data.devices[0]?.token as string });
    expect(license.status).toBe(200);
    await server.end();
    expect(leftKeys(data.directory)).toEqual([]);
  });
});
