import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type ProofBundle, readBundle, writeBundle } from "../../../src/kit/transparency/bundle.ts";
import { checkBundle } from "../../../src/kit/transparency/check.ts";
import { signatureLine } from "../../../src/kit/transparency/note.ts";
import { parseTlogProof } from "../../../src/kit/transparency/proof.ts";
import { cosignerOf, itemsOf, logSigner, TestLog } from "../../support/ledger.ts";
import { anyText } from "../../support/texts.ts";

const TEXTS = ['{"repoKey":"shop","mode":null}', '1\0\0{"prompt":"é"}\0', "2\0\0{}\ufffd\0"];
const items = itemsOf(Buffer.alloc(32, 5), TEXTS);
const leaf = JSON.stringify({ v: 2, kind: "telemetry", items: items.root, itemCount: 3 });
const log = new TestLog().append(...Array.from({ length: 40 }, (_, i) => (i === 17 ? leaf : `{"n":${i}}`)));
const [first, second] = [cosignerOf("audit.example/w1", 2), cosignerOf("audit.example/w2", 3)];
const text = () => `${log.checkpoint().split("\n\n")[0]}\n`;
const bundle: ProofBundle = {
  checkpoint: log.checkpoint() + signatureLine(text(), first, 1_700_000_000_000),
  index: 17,
  leaf,
  inclusion: log.inclusion(17),
  items: items.proofs,
};
const judge = (changed: Partial<ProofBundle>, ...cosigners: Parameters<typeof checkBundle>[2]) => {
  const { proven, steps } = checkBundle(writeBundle({ ...bundle, ...changed }), logSigner, cosigners);
  expect(proven).toBe(steps.every(({ ok }) => ok));
  return steps.filter(({ ok }) => !ok).map(({ step }) => step);
};
const withItem = (i: number, changed: object) => ({
  items: bundle.items.map((one, at) => (at === i ? { ...one, ...changed } : one)),
});

describe("a proof bundle", () => {
  it("survives writing and reading to the byte, and is a tlog-proof for other programs", () => {
    expect(readBundle(writeBundle(bundle))).toEqual(bundle);
    const { index, hashes, checkpoint } = parseTlogProof(writeBundle(bundle));
    expect({ index, hashes, checkpoint }).toEqual({
      index: 17,
      hashes: bundle.inclusion,
      checkpoint: bundle.checkpoint,
    });
    fc.assert(
      fc.property(anyText({ maxLength: 40 }), (odd) => {
        const changed = { ...bundle, leaf: odd, ...withItem(1, { text: odd }) };
        expect(readBundle(writeBundle(changed))).toEqual(changed);
      }),
    );
  });

  it("proves leaf, items and cosignature", () => {
    const report = checkBundle(writeBundle(bundle), logSigner, [first]);
    expect(report.steps.map(({ step, ok }) => [step, ok])).toEqual([
      ["file", true],
      ["checkpoint", true],
      ["inclusion", true],
      ["item", true],
      ["item", true],
      ["item", true],
      ["cosignature", true],
    ]);
    expect(report).toMatchObject({ proven: true, checkpoint: { size: 40 }, bundle: { leaf } });
    expect(report.cosignatures).toEqual([{ key: first, at: 1_700_000_000_000 }]);
    expect(judge({ items: [] })).toEqual([]);
  });

  it("proves nothing of an altered bundle, and says which step fails", () => {
    expect(judge({ leaf: leaf.replace("telemetry", "brain") })).toEqual(["inclusion"]);
    expect(judge({ index: 18 })).toEqual(["inclusion"]);
    expect(judge({ inclusion: log.inclusion(18) })).toEqual(["inclusion"]);
    expect(judge({ inclusion: bundle.inclusion.slice(1) })).toEqual(["inclusion"]);
    expect(judge(withItem(1, { text: '1\0\0{"prompt":"e"}\0' }))).toEqual(["item"]);
    expect(judge(withItem(1, { salt: Buffer.alloc(16) }))).toEqual(["item"]);
    expect(judge(withItem(1, { index: 2 }))).toEqual(["item"]);
    expect(judge(withItem(1, { path: [] }))).toEqual(["item"]);
    // Hashing cannot tell a lone surrogate from U+FFFD.
    expect(judge(withItem(2, { text: "2\0\0{}\ud800\0" }))).toEqual(["file"]);
    const forged = itemsOf(Buffer.alloc(32, 6), TEXTS);
    expect(judge({ leaf: leaf.replace(items.root, forged.root), items: forged.proofs })).toEqual(["inclusion"]);
    expect(judge({ items: forged.proofs })).toEqual(["item", "item", "item"]);
    expect(judge({ index: 16, leaf: '{"n":16}', inclusion: log.inclusion(16) })).toEqual(["item", "item", "item"]);
  });

  it("proves an item's place if the leaf holds their number, and otherwise that it is one of them", () => {
    expect(judge(withItem(0, { count: 4 }))).toEqual(["item"]);
    const silent = leaf.replace(',"itemCount":3', "");
    const other = new TestLog().append(silent);
    const own = { ...bundle, checkpoint: other.checkpoint(), index: 0, leaf: silent, inclusion: [] };
    const { proven, steps } = checkBundle(writeBundle(own), logSigner, []);
    expect([proven, ...steps.slice(3).map(({ detail }) => detail)]).toEqual([
      true,
      ...Array(3).fill("an item is one of those of the leaf"),
    ]);
  });

  it("proves nothing under another key, and no cosignature that is missing", () => {
    expect(judge({ checkpoint: bundle.checkpoint.replace("\n40\n", "\n41\n") })).toEqual(["checkpoint"]);
    expect(judge({ checkpoint: "nothing" }, first)).toEqual(["checkpoint"]);
    const other = new TestLog(cosignerOf("x", 9)).append(...log.leaves);
    expect(judge({ checkpoint: other.checkpoint() })).toEqual(["checkpoint"]);
    expect(judge({}, first, second)).toEqual(["cosignature"]);
    const forged = signatureLine(text().replace("40", "41"), second, 1_700_000_000_000);
    expect(judge({ checkpoint: bundle.checkpoint + forged }, first, second)).toEqual(["cosignature"]);
    expect(judge({ checkpoint: bundle.checkpoint + forged }, first)).toEqual([]);
  });

  it("is refused when it is malformed", () => {
    const good = writeBundle(bundle);
    const extra = (value: unknown) =>
      good.replace(/^extra .*$/m, `extra ${Buffer.from(JSON.stringify(value)).toString("base64")}`);
    const [one] = JSON.parse(parseTlogProof(good).extra?.toString("utf8") ?? "").items;
    const format = "reckon-ledger-proof/1";
    for (const bad of [
      "",
      "{}",
      good.replace(/^extra .*\n/m, ""),
      extra(null),
      extra([]),
      extra({ format, leaf: "{}" }),
      extra({ format: "reckon-ledger-proof/2", leaf: "{}", items: [] }),
      extra({ format, leaf: 1, items: [] }),
      extra({ format, leaf: "{}", items: [], more: 1 }),
      extra({ format, leaf: "{}", items: [{ ...one, index: -1 }] }),
      extra({ format, leaf: "{}", items: [{ ...one, count: 1.5 }] }),
      extra({ format, leaf: "{}", items: [{ ...one, salt: "AAAA" }] }),
      extra({ format, leaf: "{}", items: [{ ...one, path: ["AAAA"] }] }),
      extra({ format, leaf: "{}", items: [{ ...one, path: Array(65).fill(one.path[0]) }] }),
      extra({ format, leaf: "{}", items: Array(1_001).fill(one) }),
      `${good}${"x".repeat(1024 * 1024)}`,
    ]) {
      const { proven, steps } = checkBundle(bad, logSigner, []);
      expect([proven, steps.map(({ step }) => step)]).toEqual([false, ["file"]]);
    }
    expect(() => writeBundle({ ...bundle, leaf: "x".repeat(1024 * 1024) })).toThrow(/fewer items/);
  });

  it("is judged without an error, whatever it holds", () => {
    const good = writeBundle(bundle);
    const edit = fc.record({
      at: fc.nat({ max: good.length }),
      cut: fc.nat({ max: 40 }),
      put: anyText(),
    });
    fc.assert(
      fc.property(edit, ({ at, cut, put }) => {
        const changed = good.slice(0, at) + put + good.slice(at + cut);
        const { proven, bundle: read } = checkBundle(changed, logSigner, [first]);
        if (proven) expect({ ...read, checkpoint: "" }).toEqual({ ...bundle, checkpoint: "" });
      }),
      { numRuns: 500 },
    );
  });
});
