import { writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { zstdCompressSync } from "node:zlib";
import { expect, it } from "vitest";
import { TAR_END, tarMember } from "../../src/kit/tar.ts";
import { writeBundle } from "../../src/kit/transparency/bundle.ts";
import { parseNote, signatureLine, vkeyOf } from "../../src/kit/transparency/note.ts";
import { reckon } from "../faults/support/process.ts";
import { newFolder } from "../support/folder.ts";
import { cosignerOf, itemsOf, TestLog } from "../support/ledger.ts";
import { command } from "../support/remote.ts";

const items = itemsOf(Buffer.alloc(32, 5), ['{"repoKey":"shop","mode":null}', '1\0\0{"prompt":"\u001b[31mred"}\0']);
const leaf = JSON.stringify({ v: 2, kind: "telemetry", at: 1_795_374_000_000, items: items.root, itemCount: 2 });
const log = new TestLog().append("{}", leaf, "{}");
const cosigner = cosignerOf("audit.example/w1", 2);
const checkpoint =
  log.checkpoint() + signatureLine(parseNote(log.checkpoint()).text, cosigner, Date.UTC(2026, 10, 22, 19));
const text = writeBundle({ checkpoint, index: 1, leaf, inclusion: log.inclusion(1), items: items.proofs });
const KEY = ["--key", vkeyOf(log.signer)];
const WITNESS = ["--witness", vkeyOf(cosigner)];

/** A file with a text. */
function file(content: string): string {
  const folder = newFolder();
  writeFileSync(join(folder, "a.tlog-proof"), content);
  return join(folder, "a.tlog-proof");
}
/** Runs it where there is no data directory, and no address answers. */
const check = (path: string, ...args: string[]) =>
  command(["ledger", "check", path, ...args], { env: { RECKON_DATA: "/nowhere/at/all" } });

it("proves what a log took in, with nothing but its key", async () => {
  const path = file(text);
  const done = await check(path, ...KEY, ...WITNESS, "--json");
  expect([done.code, done.stderr]).toEqual([0, ""]);
  expect(JSON.parse(done.stdout)).toEqual({
    proven: true,
    steps: [
      { step: "file", ok: true, detail: "the file holds a leaf and 2 items of it" },
      { step: "checkpoint", ok: true, detail: `${log.signer.name} signed that ${log.origin} has 3 leaves` },
      { step: "inclusion", ok: true, detail: "the leaf is at index 1 of the tree of 3" },
      { step: "item", ok: true, detail: "item 0 of 2 is in the leaf" },
      { step: "item", ok: true, detail: "item 1 of 2 is in the leaf" },
      { step: "cosignature", ok: true, detail: expect.stringContaining("audit.example/w1") },
    ],
    checkpoint: { origin: log.origin, size: 3, root: log.rootAt(3).toString("base64") },
    leaf: { index: 1, text: leaf },
    items: items.proofs.map((one) => ({ index: one.index, count: 2, text: one.text })),
    cosignatures: [{ name: "audit.example/w1", at: "2026-11-22T19:00:00.000Z" }],
  });
  const plain = await check(path, ...KEY, ...WITNESS);
  expect([plain.code, plain.stderr]).toEqual([0, ""]);
  expect(plain.stdout).toContain("PROVEN: the log had taken this in when it signed.");
  expect(plain.stdout).toMatch(/^ {2}kind +telemetry$/m);
  expect(plain.stdout).toMatch(/^ {2}at +1795374000000 \(2026-11-22T19:00:00.000Z\)$/m);
  expect(plain.stdout).toContain('1⟨U+0000⟩⟨U+0000⟩{"prompt":"⟨U+001B⟩[31mred"}⟨U+0000⟩');
  expect(plain.stdout).toContain("2026-11-22T19:00:00.000Z by audit.example/w1");
  expect(plain.stdout).not.toContain("\u001b");
});

it("proves nothing where a step fails, and says which", async () => {
  const altered = writeBundle({
    checkpoint,
    index: 1,
    leaf,
    inclusion: log.inclusion(1),
    items: items.proofs.map((one) => ({ ...one, text: one.text.replace("red", "blue") })),
  });
  const failed = async (path: string, ...args: string[]) => {
    const done = await check(path, ...args, "--json");
    const { proven, steps } = JSON.parse(done.stdout);
    expect([done.code, proven]).toEqual([1, false]);
    return steps.filter(({ ok }: { ok: boolean }) => !ok).map(({ step }: { step: string }) => step);
  };
  expect(await failed(file(altered), ...KEY)).toEqual(["item"]);
  expect(await failed(file(text.replace("\n3\n", "\n4\n")), ...KEY)).toEqual(["checkpoint"]);
  const another = ["--witness", vkeyOf(cosignerOf("other.example", 3))];
  expect(await failed(file(text), ...KEY, ...WITNESS, ...another)).toEqual(["cosignature"]);
  expect(await failed(file("nothing"), ...KEY)).toEqual(["file"]);
  expect(await failed(join(tmpdir(), "is-not-there"), ...KEY)).toEqual(["file"]);
  expect(await failed("/dev/zero", ...KEY)).toEqual(["file"]);
  expect(await failed(file(""), ...KEY)).toEqual(["file"]);
  const plain = await check(file(altered), ...KEY);
  expect([plain.code, plain.stdout]).toEqual([1, expect.stringContaining("NOT PROVEN")]);
  expect(plain.stdout).toContain("item 1 is not what the leaf says that it is");
  expect(plain.stdout).not.toContain("blue");
});

it("proves nothing of an archive that claims more than fits into memory, and says so", async () => {
  const line = `{"id":1,"leaf":"","repoKey":"","mode":null,"inclusion":null,"more":[${"[],".repeat(6_000_000)}0]}`;
  const member = await tarMember("deliveries/1.jsonl", Buffer.from(line), 0);
  const archive = zstdCompressSync(Buffer.concat([member, TAR_END]));
  expect(archive.length).toBeLessThan(8_192);
  const path = file("");
  writeFileSync(path, archive);
  const env = { RECKON_DATA: "/nowhere/at/all", NODE_OPTIONS: "--max-old-space-size=48" };
  const done = await reckon(["ledger", "check", path, ...KEY], { env });
  expect([done.code, done.stdout]).toEqual([1, expect.stringContaining("more than fits into the memory")]);
});

it("refuses wrong usage, and says what is wrong", async () => {
  const path = file(text);
  for (const [args, message] of [
    [[], "--key"],
    [["--key", "nonsense"], "no verifier key"],
    [["--key", vkeyOf(log.signer).replace("+", "x+")], "does not fit"],
    [["--key", vkeyOf(cosigner)], "key of a witness"],
    [[...KEY, "--witness", vkeyOf(log.signer)], "key of a log"],
  ] as const) {
    const done = await check(path, ...args);
    expect([done.code, done.stderr]).toEqual([2, expect.stringContaining(message)]);
  }
});
