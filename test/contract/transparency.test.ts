import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { consistencyProof, leafHash } from "../../src/kit/merkle.ts";
import { parseNote, signatureLine, vkeyOf } from "../../src/kit/transparency/note.ts";
import { tileBytes, tilePath, tileWidth } from "../../src/kit/transparency/tiles.ts";
import { newFolder } from "../support/folder.ts";
import { cosignerOf, TestLog } from "../support/ledger.ts";

/* What is written for auditors, judged by programs of other people. */

const SIZE = 66_000;
const log = new TestLog().append(...Array.from({ length: SIZE }, (_, i) => JSON.stringify({ v: 2, leaf: i })));
const cosigner = cosignerOf("audit.example/w1", 2);
const text = parseNote(log.checkpoint()).text;
const cosigned = log.checkpoint() + signatureLine(text, cosigner, 1_700_000_000_000);

const hashes = (list: readonly Buffer[]) => list.map((one) => one.toString("base64"));
const inclusion = (index: number, size: number) => ({
  Index: index,
  Size: size,
  Leaf: leafHash(Buffer.from(log.leaves[index] as string)).toString("base64"),
  Root: log.rootAt(size).toString("base64"),
  Proof: hashes(log.inclusion(index, size)),
});
const consistency = (from: number, to: number) => ({
  From: from,
  To: to,
  FromRoot: log.rootAt(from).toString("base64"),
  ToRoot: log.rootAt(to).toString("base64"),
  Proof: hashes(consistencyProof(from, to, log.nodeAt)),
});

/** All tiles of the log. */
function tiles(): Record<string, string> {
  const found: Record<string, string> = {};
  for (let level = 0; tileWidth(level, 0, SIZE) > 0; level++)
    for (let n = 0; tileWidth(level, n, SIZE) > 0; n++) {
      const tile = { level, n, width: tileWidth(level, n, SIZE) };
      found[tilePath(tile)] = tileBytes(tile, log.nodeAt).toString("base64");
    }
  return found;
}

/** Builds the verifier, from what is on this machine alone; undefined where Go or its module is not. */
function goVerifier(): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), "reckon-go-"));
  const program = join(folder, "verifier");
  const built = spawnSync("go", ["build", "-buildvcs=false", "-o", program, "."], {
    cwd: join(import.meta.dirname, "../go-verifier"),
    env: { ...process.env, GOPROXY: "off", GOFLAGS: "-mod=readonly", GOTOOLCHAIN: "local" },
    encoding: "utf8",
  });
  if (built.status === 0) return program;
  rmSync(folder, { recursive: true });
  console.warn(
    `Skipped: no Go with golang.org/x/mod here (run "go mod download" in test/go-verifier). ${built.stderr ?? ""}`,
  );
  return undefined;
}

describe("golang.org/x/mod/sumdb", () => {
  const program = goVerifier();

  it.skipIf(!program)("accepts key, note, proofs and tiles, and refuses altered ones", () => {
    onTestFinished(() => rmSync(join(program as string, ".."), { recursive: true }));
    const sizes = [1, 2, 3, 255, 256, 257, 1_000, 2_907, 65_535, 65_536, 65_537, SIZE];
    const document = {
      Vkey: vkeyOf(log.signer),
      Note: cosigned,
      Text: text,
      BadNotes: [cosigned.replace(`\n${SIZE}\n`, `\n${SIZE + 1}\n`), log.checkpoint().replace("— reckon", "— beckon")],
      Leaves: log.leaves
        .slice(0, 5)
        .map((leaf) => ({ Text: leaf, Hash: leafHash(Buffer.from(leaf)).toString("base64") })),
      Inclusion: sizes.flatMap((size) =>
        [0, Math.floor(size / 2), Math.max(size - 2, 0), size - 1].map((index) => inclusion(index, size)),
      ),
      Consistency: sizes.flatMap((to) => sizes.filter((from) => from <= to).map((from) => consistency(from, to))),
      BadInclusion: [
        { ...inclusion(5, 1_000), Index: 6 },
        { ...inclusion(5, 1_000), Leaf: inclusion(6, 1_000).Leaf },
      ],
      BadConsistency: [{ ...consistency(1_000, SIZE), FromRoot: consistency(999, SIZE).FromRoot }],
      Tiles: tiles(),
      Size: SIZE,
      Root: log.rootAt(SIZE).toString("base64"),
    };
    const input = JSON.stringify(document);
    expect(execFileSync(program as string, { input, encoding: "utf8", maxBuffer: 1 << 24 })).toBe("");
    const broken = { ...document, Root: document.Inclusion[0]?.Root };
    const output = execFileSync(program as string, { input: JSON.stringify(broken), encoding: "utf8" });
    expect(output).toContain(`inclusion of 0 from tiles`);
  });
});

const openssl = spawnSync("openssl", ["version"], { encoding: "utf8" });
const noOpenssl = openssl.status !== 0;
if (noOpenssl) console.warn("Skipped: no openssl here");

describe.skipIf(noOpenssl)("openssl", () => {
  /** Verifies a message as the page on proofs shows it. */
  function verifies(publicKey: typeof cosigner.publicKey, message: string, signature: Buffer): boolean {
    const folder = newFolder();
    writeFileSync(join(folder, "key.pem"), publicKey.export({ type: "spki", format: "pem" }));
    writeFileSync(join(folder, "message"), message);
    writeFileSync(join(folder, "signature"), signature);
    const args = ["-verify", "-pubin", "-inkey", "key.pem", "-rawin", "-in", "message", "-sigfile", "signature"];
    return spawnSync("openssl", ["pkeyutl", ...args], { cwd: folder }).status === 0;
  }
  const [own, timed] = parseNote(cosigned).signatures.map(({ bytes }) => bytes) as [Buffer, Buffer];

  it("verifies the log's signature of a checkpoint", () => {
    expect(verifies(log.signer.publicKey, text, own)).toBe(true);
    expect(verifies(log.signer.publicKey, text.replace("\n6", "\n7"), own)).toBe(false);
  });

  it("verifies it in the way that the documentation shows", () => {
    const page = readFileSync(join(import.meta.dirname, "../../docs/proofs.md"), "utf8");
    const recipe = page.match(/```sh\n([^`]*openssl pkeyutl[^`]*)```/)?.[1] as string;
    const run = (checkpoint: string) => {
      const folder = newFolder();
      writeFileSync(join(folder, "checkpoint"), checkpoint);
      return spawnSync("sh", ["-ec", recipe], { cwd: folder, env: { ...process.env, KEY: vkeyOf(log.signer) } }).status;
    };
    expect(run(cosigned)).toBe(0);
    expect(run(cosigned.replace(`\n${SIZE}\n`, `\n${SIZE + 1}\n`))).toBe(1);
  });

  it("verifies a witness's cosignature of it", () => {
    expect(timed.readBigUInt64BE()).toBe(1_700_000_000n);
    expect(verifies(cosigner.publicKey, `cosignature/v1\ntime 1700000000\n${text}`, timed.subarray(8))).toBe(true);
    expect(verifies(cosigner.publicKey, `cosignature/v1\ntime 1700000001\n${text}`, timed.subarray(8))).toBe(false);
  });
});
