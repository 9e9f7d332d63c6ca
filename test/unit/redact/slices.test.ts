import { describe, expect, test } from "vitest";
import { SentBody } from "../../../src/record/sent-body/sent-body.ts";
import { readBatch } from "../../../src/record/traces/read-batch.ts";
import {
  mightHoldSecret,
  mightLongHoldSecret,
  redactJson,
  redactLongJson,
  redactLongText,
  redactText,
} from "../../../src/redact/redact.ts";
import { word } from "../../../src/redact/rule.ts";

/** The most text that is searched at once. */
const SLICE = 1 << 16;
const GITHUB = `ghp_${word(36)}`;

/** Counts how often others get their turn. */
function counting() {
  const breaths = { count: 0, yieldNow: (): Promise<void> | undefined => void breaths.count++ };
  return breaths;
}

const long = (unit: string, length: number) => unit.repeat(Math.ceil(length / unit.length));

describe("a long text", () => {
  const text = `${long("an ordinary line of text with password=hunter22x in it\n", 20 * SLICE)}${GITHUB}\n`;

  test("is redacted as a short one is, with others let in at least once a slice", async () => {
    const breaths = counting();
    expect(await redactLongText(text, breaths.yieldNow)).toEqual(redactText(text));
    expect(breaths.count).toBeGreaterThanOrEqual(20);
  });

  test("is looked at for anything suspicious with others let in between", async () => {
    const breaths = counting();
    const plain = long("an ordinary line of text\n", 20 * SLICE);
    expect([await mightLongHoldSecret(plain, breaths.yieldNow), mightHoldSecret(plain)]).toEqual([false, false]);
    expect(breaths.count).toBeGreaterThanOrEqual(20);
  });

  test("that is the only string of a document lets others in between", async () => {
    const breaths = counting();
    const json = JSON.stringify({ id: 1, text });
    expect(await redactLongJson(json, breaths.yieldNow)).toEqual(redactJson(json));
    expect(breaths.count).toBeGreaterThanOrEqual(20);
  });

  test("of many small strings lets others in between", async () => {
    const breaths = counting();
    const json = JSON.stringify(Array.from({ length: 200_000 }, (_, i) => (i % 1000 ? `t${i}` : `token=a1b2c3d${i}`)));
    expect(await redactLongJson(json, breaths.yieldNow)).toEqual(redactJson(json));
    expect(breaths.count).toBeGreaterThanOrEqual(json.length / SLICE);
  });
});

describe("a batch of traces", () => {
  test("lets others in between its parts and within a long one", async () => {
    const breaths = counting();
    const spans = [
      ...Array.from({ length: 50 }, (_, i) => ({ id: `s${i}` })),
      { id: "long", output: long("password=hunter22x ", 10 * SLICE) },
    ];
    const text = JSON.stringify({ sessions: [{ id: "a", outcome: "done", spans }] });
    const batch = await readBatch(await SentBody.open(text, breaths.yieldNow, "redacted"));
    expect(batch.sessions[0]?.spans.map(({ externalId }) => externalId)).toEqual(spans.map(({ id }) => id));
    expect(batch.redacted).toBe(1);
    expect(batch.sessions[0]?.spans.at(-1)?.document).not.toContain("hunter22x");
    expect(breaths.count).toBeGreaterThanOrEqual(spans.length + 10);
  });
});
