import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Problem } from "../../../src/kit/problem.ts";
import { workOf } from "../../../src/platform/http/preparation.ts";
import type { CaptureMode } from "../../../src/record/policy/policy.ts";
import { type ReadBatch, readTelemetry } from "../../../src/record/telemetry/read-batch.ts";

const { skim, ...unskimmed } = readTelemetry;
const ways = { skimmed: workOf(readTelemetry), parsed: workOf(unskimmed as typeof readTelemetry) };

/** A preparation's result for a body, without its random parts. */
async function made(way: keyof typeof ways, body: string, captureMode: CaptureMode = "full"): Promise<unknown> {
  const given = { value: { captureMode, maxEntries: 8, maxPayloadBytes: 400 } };
  const bytes = Buffer.from(body);
  const input = { bytes, isGzip: false, isBinary: false, maxBytes: 1 << 20, freeForm: true, given };
  try {
    const done = await ways[way](input as never, async () => undefined);
    const { packed, content, sent, ...facts } = (done.made as { result: ReadBatch }).result;
    const { seqs, ends, texts } = packed;
    return { ...facts, count: content.count, seqs: [...seqs], ends: [...ends], texts: Buffer.from(texts).toString() };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return { refused: error.row.name, details: error.details };
  }
}

const isSkimmed = (body: string) => skim?.(body, 64) !== undefined;

const text = fc.oneof(
  fc.string(),
  fc.string({ unit: "grapheme" }),
  fc.constantFrom("password=hunter22", "\u0000", '"\\'),
);
const payload = fc.oneof(
  fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 })),
  fc.record({ type: text, text, usage: fc.record({ input_tokens: fc.nat() }) }),
);
const mostly = <T>(usual: fc.Arbitrary<T>, ...odd: readonly unknown[]) =>
  fc.oneof({ weight: 25, arbitrary: usual }, { weight: 1, arbitrary: fc.constantFrom(...odd) });
const entry = fc.record(
  {
    seq: mostly(fc.nat(30), -1, 1.5, 2 ** 53, "1", null),
    payload: mostly(payload, [], null, "x", 1),
    clientTimestamp: mostly(
      fc.constantFrom("2026-11-21T08:00:00Z", "2026-11-21 08:00:00.5+01:00"),
      "yesterday",
      "",
      null,
    ),
  },
  { requiredKeys: ["seq", "payload"] },
);
const batch = fc.record(
  {
    entries: fc.array(mostly(entry, { seq: 1, payload: {}, extra: 1 }, []), { maxLength: 9 }),
    repoKey: mostly(fc.constant("github.com/acme/shop"), "", "a\nb", 1, '"\\'),
    mode: mostly(text, "", 1, "x".repeat(101)),
  },
  { requiredKeys: ["entries"] },
);

describe("a skimmed batch", () => {
  it("gives the same result as parsing and validating", async () => {
    let skimmed = 0;
    const mode = fc.constantFrom<CaptureMode>("full", "metadata", "off");
    await fc.assert(
      fc.asyncProperty(batch, mode, async (value, captureMode) => {
        const body = JSON.stringify(value);
        if (isSkimmed(body)) skimmed++;
        expect(await made("skimmed", body, captureMode)).toEqual(await made("parsed", body, captureMode));
      }),
      { numRuns: 1_500 },
    );
    expect(skimmed).toBeGreaterThan(300);
  });

  it("with any change is refused or accepted as parsing would", async () => {
    const usual = JSON.stringify({
      repoKey: "github.com/acme/shop",
      mode: "full",
      entries: [
        { seq: 2, payload: { type: "prompt", n: [-1.5e3, true, null] }, clientTimestamp: "2026-11-21T08:00:00Z" },
        { seq: 1, payload: { text: 'é \\ " token=a1b2c3d4e5' } },
      ],
    });
    expect(isSkimmed(usual)).toBe(true);
    const pieces = [
      "",
      '"',
      "\\",
      "{",
      "}",
      "[",
      "]",
      ",",
      ":",
      "0",
      "-",
      ".",
      "e",
      " ",
      "\n",
      '"seq":3,',
      '"mode":"x",',
      "é",
    ];
    await fc.assert(
      fc.asyncProperty(fc.nat(usual.length - 1), fc.constantFrom(...pieces), fc.boolean(), async (at, piece, isPut) => {
        const body = usual.slice(0, at) + piece + usual.slice(isPut ? at : at + 1);
        expect(await made("skimmed", body), body).toEqual(await made("parsed", body));
      }),
      { numRuns: 4_000 },
    );
  });

  it.each([
    ["numbers as they were spelled", '{"entries":[{"seq":1,"payload":{"n":12345678901234567890,"m":1.0}}]}'],
    ["a member twice within a payload", '{"entries":[{"seq":1,"payload":{"a":1,"a":2}}]}'],
    ["spaces between tokens", ' { "entries" : [ { "payload" : { } , "seq" : 1 } ] , "mode" : "full" } '],
    ["no entries", '{"entries":[],"repoKey":"r"}'],
  ])("keeps %s", async (_, body) => {
    expect(isSkimmed(body)).toBe(true);
    expect(await made("skimmed", body)).toEqual(await made("parsed", body));
  });

  it.each([
    ["a number spelled unusually", '{"entries":[{"seq":1.0,"payload":{}}]}'],
    ["an entry that names a member twice", '{"entries":[{"seq":1,"seq":2,"payload":{}}]}'],
    [
      "an entry that names its time twice",
      `{"entries":[{"seq":1,"payload":{}${',"clientTimestamp":"2026-11-21T08:00:00Z"'.repeat(2)}}]}`,
    ],
    ["a time by another name", '{"entries":[{"seq":1,"payload":{},"at":"2026-11-21T08:00:00Z"}]}'],
    ["a body that names a member twice", '{"entries":[],"entries":[]}'],
    ["a name with an escape", '{"entries":[{"s\\u0065q":1,"payload":{}}]}'],
    ["more than one line", '{"entries":[\n]}'],
    ["what nests too deep", `{"entries":[{"seq":1,"payload":{"a":${"[".repeat(62)}${"]".repeat(62)}}}]}`],
  ])("leaves %s to the parser", async (_, body) => {
    expect(isSkimmed(body)).toBe(false);
    expect(await made("skimmed", body)).toEqual(await made("parsed", body));
  });
});
