import { spawnSync } from "node:child_process";
import { generateKeyPairSync, randomBytes } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  keyName,
  readPublicKey,
  readSecretKey,
  signFile,
  verifyFile,
  writePublicKey,
} from "../../build/release/minisign.ts";
import { type Statement, seal, statement, unseal } from "../../build/release/provenance.ts";
import { newFolder } from "../support/folder.ts";

const noMinisign = spawnSync("minisign", ["-v"]).error ? "minisign is not installed" : undefined;
if (noMinisign) console.log(`tests of signatures with the real minisign are skipped: ${noMinisign}`);

/** A secret key file as `minisign -G -W` writes one. */
function makeKey(): string {
  const pair = generateKeyPairSync("ed25519");
  const seed = pair.privateKey.export({ format: "der", type: "pkcs8" }).subarray(-32);
  const open = pair.publicKey.export({ format: "der", type: "spki" }).subarray(-32);
  const parts = [Buffer.from("Ed\0\0B2"), Buffer.alloc(48), randomBytes(8), seed, open, Buffer.alloc(32)];
  return `untrusted comment: minisign encrypted secret key\n${Buffer.concat(parts).toString("base64")}\n`;
}

const SOURCE = { version: "1.2.3", commit: "c".repeat(40), epoch: 1_700_000_000 };
const statementOf = (key: ReturnType<typeof readSecretKey>): Statement =>
  statement(SOURCE, ["linux-x64"], { node: "26" }, [], [{ name: "a", sha256: "0".repeat(64) }], key);

describe("signatures of a release", () => {
  it("are the same each time, and fit neither another file nor another comment", () => {
    const key = readSecretKey(makeKey());
    const open = readPublicKey(writePublicKey(key));
    const signed = signFile(key, Buffer.from("content"), "Reckon 1.2.3");
    expect(signFile(key, Buffer.from("content"), "Reckon 1.2.3")).toBe(signed);
    expect(verifyFile(open, Buffer.from("content"), signed)).toBe("Reckon 1.2.3");
    expect(() => verifyFile(open, Buffer.from("Content"), signed)).toThrow("does not fit the file");
    expect(() => verifyFile(open, Buffer.from("content"), signed.replace("1.2.3", "1.2.4"))).toThrow("its comment");
    expect(() => verifyFile(readSecretKey(makeKey()), Buffer.from("content"), signed)).toThrow("another key");
  });

  it("are made with sound keys without a password only", () => {
    const text = makeKey();
    const bytes = Buffer.from(text.split("\n")[1] as string, "base64");
    const altered = (at: number, value: number) => {
      const copy = Buffer.from(bytes);
      copy[at] = value;
      return `comment\n${copy.toString("base64")}\n`;
    };
    expect(() => readSecretKey(altered(2, "S".charCodeAt(0)))).toThrow("has a password");
    expect(() => readSecretKey(altered(70, (bytes[70] as number) ^ 1))).toThrow("damaged");
    expect(() => readSecretKey("nonsense")).toThrow("no secret key");
    expect(() => readPublicKey("nonsense")).toThrow("no public key");
  });

  it.skipIf(noMinisign)("are accepted by minisign, which refuses an altered file", () => {
    const folder = newFolder();
    const [file, open, secret] = ["SHA256SUMS", "key.pub", "key.sec"].map((name) => join(folder, name)) as [
      string,
      string,
      string,
    ];
    // A key of minisign's own: what it writes is what we read.
    expect(spawnSync("minisign", ["-G", "-W", "-s", secret, "-p", open]).status).toBe(0);
    const key = readSecretKey(readFileSync(secret, "utf8"));
    expect(readFileSync(open, "utf8")).toBe(writePublicKey(key));
    writeFileSync(file, "some sums\n");
    writeFileSync(`${file}.minisig`, signFile(key, readFileSync(file), "Reckon 1.2.3"));
    const accepted = spawnSync("minisign", ["-V", "-m", file, "-p", open], { encoding: "utf8" });
    expect([accepted.status, accepted.stdout]).toEqual([0, expect.stringContaining("Trusted comment: Reckon 1.2.3")]);
    // And the other way around.
    expect(spawnSync("minisign", ["-S", "-s", secret, "-m", file, "-t", "theirs"]).status).toBe(0);
    expect(
      verifyFile(
        readPublicKey(readFileSync(open, "utf8")),
        readFileSync(file),
        readFileSync(`${file}.minisig`, "utf8"),
      ),
    ).toBe("theirs");
    writeFileSync(file, "some suns\n");
    expect(spawnSync("minisign", ["-V", "-m", file, "-p", open]).status).toBe(1);
  });
});

describe("provenance", () => {
  it("is a SLSA statement in a signed envelope that is the same each time", () => {
    const key = readSecretKey(makeKey());
    const text = seal(key, statementOf(key));
    expect(seal(key, statementOf(key))).toBe(text);
    expect(unseal(readPublicKey(writePublicKey(key)), text)).toMatchObject({
      _type: "https://in-toto.io/Statement/v1",
      subject: [{ name: "a", digest: { sha256: "0".repeat(64) } }],
      predicateType: "https://slsa.dev/provenance/v1",
      predicate: {
        buildDefinition: { resolvedDependencies: [{ name: "source", digest: { gitCommit: SOURCE.commit } }] },
        runDetails: { builder: { id: `urn:reckon:release-key:${keyName(key)}` } },
      },
    });
  });

  it("is refused when altered or signed with another key", () => {
    const key = readSecretKey(makeKey());
    const envelope = JSON.parse(seal(key, statementOf(key)));
    const payload = Buffer.from(JSON.stringify({ ...statementOf(key), subject: [] })).toString("base64");
    expect(() => unseal(key, JSON.stringify({ ...envelope, payload }))).toThrow("not signed");
    expect(() => unseal(key, JSON.stringify({ ...envelope, payloadType: "text/plain" }))).toThrow("not signed");
    expect(() => unseal(readSecretKey(makeKey()), JSON.stringify(envelope))).toThrow("not signed");
  });
});
