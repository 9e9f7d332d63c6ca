import { spawnSync } from "node:child_process";
import { createHash, generateKeyPairSync } from "node:crypto";
import { appendFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ROOT } from "../../build/bundle.ts";
import { type ReleaseKey, signFile, writePublicKey } from "../../build/release/minisign.ts";
import { seal, statement } from "../../build/release/provenance.ts";
import { newFolder } from "../support/folder.ts";

const COMMIT = "c".repeat(40);
const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
const newKey = (): ReleaseKey => ({ id: Buffer.from("12345678"), key: generateKeyPairSync("ed25519").privateKey });

/** A release of one small file. @param commit what the provenance names */
function makeRelease(key: ReleaseKey, commit = COMMIT): string {
  const folder = newFolder();
  const release = join(folder, "release");
  mkdirSync(release);
  const files: Record<string, string> = {
    "manifest.json": JSON.stringify({ commit: COMMIT, targets: [] }),
    "reckon-1.2.3-linux-x64": "executable",
  };
  const digests = Object.entries(files).map(([name, text]) => ({ name, sha256: sha256(text) }));
  const source = { version: "1.2.3", commit, epoch: 1_700_000_000 };
  files["provenance.dsse.json"] = seal(key, statement(source, [], {}, [], digests, key));
  const sums = Object.entries(files).map(([name, text]) => `${sha256(text)}  ${name}\n`);
  files.SHA256SUMS = sums.sort().join("");
  files["SHA256SUMS.minisig"] = signFile(key, Buffer.from(files.SHA256SUMS), "Reckon 1.2.3");
  for (const [name, text] of Object.entries(files)) writeFileSync(join(release, name), text);
  writeFileSync(join(folder, "key.pub"), writePublicKey(key));
  return release;
}

function verify(release: string, ...args: string[]): { readonly status: number | null; readonly stdout: string } {
  const key = args.length > 0 ? args : ["--key", join(release, "../key.pub")];
  const command = [join(ROOT, "build/verify.ts"), release, "--no-rebuild", ...key];
  return spawnSync(process.execPath, command, { encoding: "utf8" });
}

describe("verifying a release", () => {
  it("accepts it with the key of who made it, as a file or as text", () => {
    const release = makeRelease(newKey());
    expect(verify(release)).toMatchObject({ status: 0, stdout: expect.stringContaining("all of it fits") });
    const text = readFileSync(join(release, "../key.pub"), "utf8").split("\n")[1] as string;
    expect(verify(release, "--key", text).status).toBe(0);
  });

  it("says what is no key, what is not there, and what is wrong usage", () => {
    const release = makeRelease(newKey());
    const missing = join(release, "missing");
    for (const [args, status, says] of [
      [[release, "--key", missing], 1, `--key ${missing}: there is no such file, and it is no public key of minisign`],
      [[release, "--key", join(release, "SHA256SUMS")], 1, `--key ${join(release, "SHA256SUMS")}: it is no public key`],
      [[missing], 1, `${join(missing, "SHA256SUMS")}: there is no such file`],
      [[release, "--kye", "x"], 2, "Unknown option '--kye'"],
    ] as const) {
      const done = spawnSync(process.execPath, [join(ROOT, "build/verify.ts"), ...args], { encoding: "utf8" });
      expect([done.status, done.stderr]).toEqual([status, expect.stringContaining(`verify: ${says}`)]);
    }
  });

  it("finds a file that was altered, taken away or added", () => {
    const release = makeRelease(newKey());
    const file = join(release, "reckon-1.2.3-linux-x64");
    appendFileSync(file, "!");
    expect(verify(release)).toMatchObject({
      status: 1,
      stdout: expect.stringContaining("DIFFERS SHA256SUMS of reckon-"),
    });
    rmSync(file);
    expect(verify(release).stdout).toContain("DIFFERS reckon-1.2.3-linux-x64 is there");
    writeFileSync(file, "executable");
    writeFileSync(join(release, "extra"), "");
    expect(verify(release)).toMatchObject({ status: 1, stdout: expect.stringContaining("DIFFERS extra stands") });
  });

  it("finds sums that were altered along, another's signature, and another's provenance", () => {
    const key = newKey();
    const release = makeRelease(key);
    const file = join(release, "reckon-1.2.3-linux-x64");
    writeFileSync(file, "altered");
    const sums = join(release, "SHA256SUMS");
    writeFileSync(sums, readFileSync(sums, "utf8").replace(sha256("executable"), sha256("altered")));
    const { status, stdout } = verify(release);
    expect([status, stdout]).toEqual([1, expect.stringContaining("DIFFERS SHA256SUMS is signed")]);
    expect(stdout).toContain("DIFFERS the provenance names these files");
    expect(verify(makeRelease(newKey()), "--key", join(release, "../key.pub")).status).toBe(1);
    expect(verify(makeRelease(key, "d".repeat(40))).stdout).toContain("DIFFERS the provenance names the commit");
  });
});
