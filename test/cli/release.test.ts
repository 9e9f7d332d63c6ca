import { createHash } from "node:crypto";
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { startInstance } from "../support/instance.ts";
import { command, commandJson } from "../support/remote.ts";
import { installer } from "../support/site.ts";

const run = (data: string, ...args: string[]) => command(["release", ...args, "--data", data]);

const json = (data: string, ...args: string[]) => commandJson(["release", ...args, "--data", data]);

const ADD = ["add", "--platform", "win"];
const BYTES = Buffer.from("an installer");
const SHA512 = createHash("sha512").update(BYTES).digest();

describe("releases from the command line", () => {
  it("are copied, listed, served and withdrawn beside a running server", async () => {
    const t = await startInstance();
    const added = await json(t.directory, ...ADD, "--version", "1.2.0", "--file", installer(t, "My Setup!.exe", BYTES));
    expect(added).toMatchObject({
      platform: "win32",
      version: "1.2.0",
      url: "http://127.0.0.1:4870/download/files/win32/1.2.0/My-Setup-.exe",
      sha512: SHA512.toString("base64"),
      bytes: BYTES.length,
      file: "My-Setup-.exe",
    });
    const kept = join(t.directory, "releases", SHA512.toString("hex"));
    expect(statSync(kept).mode & 0o777).toBe(0o600);
    expect(await json(t.directory, "list")).toEqual([added]);
    const path = "/download/files/win32/1.2.0/My-Setup-.exe";
    const reply = await t.instance.fetch(new Request(`http://localhost${path}`));
    expect(Buffer.from(await reply.arrayBuffer()).equals(BYTES)).toBe(true);
    expect(await json(t.directory, "remove", "--platform", "win32", "--version", "1.2.0")).toEqual({
      platform: "win32",
      version: "1.2.0",
      removed: true,
    });
    expect([t.count("releases"), existsSync(kept)]).toEqual([0, false]);
    expect(t.rows("SELECT action, target_id FROM audit_events WHERE target_kind = 'release' ORDER BY id")).toEqual([
      { action: "release.added", target_id: "win32 1.2.0" },
      { action: "release.removed", target_id: "win32 1.2.0" },
    ]);
  });

  it("keep a file that two versions share until the last is withdrawn", async () => {
    const t = await startInstance();
    const file = installer(t, "Setup.exe", BYTES);
    await json(t.directory, ...ADD, "--version", "1.0.0", "--file", file);
    await json(t.directory, ...ADD, "--version", "1.0.1", "--file", file);
    await json(t.directory, "remove", "--platform", "win", "--version", "1.0.0");
    expect(readdirSync(join(t.directory, "releases"))).toEqual([SHA512.toString("hex")]);
    await json(t.directory, "remove", "--platform", "win", "--version", "1.0.1");
    expect(readdirSync(join(t.directory, "releases"))).toEqual([]);
  });

  it("may lie elsewhere: by their checksum in either spelling, or by a copy to compute it from", async () => {
    const t = await startInstance();
    const url = "https://dl.example.com/Setup.exe";
    const file = installer(t, "Setup.exe", BYTES);
    const wanted = { url, sha512: SHA512.toString("base64"), file: null };
    const with_ = (version: string, ...more: string[]) =>
      json(t.directory, ...ADD, "--version", version, "--url", url, ...more);
    expect(await with_("1.0.0", "--sha512", SHA512.toString("hex"))).toMatchObject({ ...wanted, bytes: null });
    expect(await with_("1.0.1", "--sha512", SHA512.toString("base64"))).toMatchObject(wanted);
    expect(await with_("1.0.2", "--file", file)).toMatchObject({ ...wanted, bytes: BYTES.length });
    expect(existsSync(join(t.directory, "releases"))).toBe(false);
  });

  it("are refused with what is wrong, and leave nothing behind", async () => {
    const t = await startInstance();
    const file = installer(t, "Setup.exe", BYTES);
    await json(t.directory, ...ADD, "--version", "1.0.0", "--file", file);
    const elsewhere = ["--url", "https://dl.example.com/Setup.exe"];
    const other = installer(t, "Other.exe");
    for (const [args, says] of [
      [["--version", "1.0.0", "--file", other], "registered already"],
      [["--version", "2.0.0"], "name the installer's file"],
      [["--version", "2.0.0", ...elsewhere], "and its SHA-512 or a copy of the file"],
      [["--version", "2.0.0", ...elsewhere, "--sha512", "abc"], "128 hexadecimal digits"],
      [["--version", "2.0.0", "--file", other, "--sha512", SHA512.toString("hex")], "not the one given"],
      [["--version", "2.0", "--file", other], "semver.org"],
      [["--version", "2.0.0+build", "--file", other], "semver.org"],
      [["--version", "v2.0.0", "--file", other], "semver.org"],
      [["--version", "2.0.0", "--file", join(t.directory, "none.exe")], "there is no file"],
      [["--version", "2.0.0", "--file", t.directory], "is a directory, not a file"],
      [["--version", "2.0.0", "--file", installer(t, "empty.exe", Buffer.alloc(0))], "is empty"],
      [["--version", "2.0.0", "--url", "file:///etc/passwd", "--file", other], "begins with https://"],
      [
        ["--version", "2.0.0", "--url", "https://:secret@dl.example.com/x.exe", "--file", other],
        "no user name or password",
      ],
    ] as const) {
      const done = await command(["release", ...ADD, ...args, "--data", t.directory]);
      expect([args.join(" "), done.code, done.stderr.includes(says)]).toEqual([args.join(" "), 1, true]);
    }
    const usage = await run(t.directory, "add", "--platform", "linux", "--version", "2.0.0", "--file", other);
    expect([usage.code, usage.stderr.includes("win32")]).toEqual([2, true]);
    const none = await run(t.directory, "remove", "--platform", "win32", "--version", "9.9.9");
    expect([none.code, none.stderr.includes("no such release")]).toEqual([1, true]);
    expect(t.rows("SELECT version FROM releases")).toEqual([{ version: "1.0.0" }]);
    expect(readdirSync(join(t.directory, "releases"))).toEqual([SHA512.toString("hex")]);
  });
});
