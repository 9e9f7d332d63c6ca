import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { findSecrets, mightHoldSecret, redactJson } from "../../../src/redact/redact.ts";
import { findInSlices } from "../../../src/redact/scan.ts";
import { type Hostile, hostileTexts, repeated } from "../../bench/redaction.ts";
import { processorMs } from "../../support/time.ts";

/** What a search may look at for each character of a short text, whatever it is, and of one that is as long as a slice, where crowds are covered. */
const MOST_WORK = 20;
const MOST_LONG = 12;
/**
 * The same where several follow each other: their distance may be such that no crowd is covered. Of 94,126 that were drawn 14 took more than 12,
 * the dearest 20, and 25 ns a character.
 */
const MOST_JOINED = 24;
/** The most text that is searched at once. */
const SLICE = 1 << 16;
const LENGTH = 3 * SLICE;

/** The cost of searching a text, one number for each slice. */
function workOf(text: string): number[] {
  const slices: number[] = [];
  const search = findInSlices(text, (work) => slices.push(work));
  while (!search.next().done);
  return slices;
}

const tooMuch = (text: string, most = MOST_LONG): number[] => workOf(text).filter((work) => work > most * SLICE);

const ALL = hostileTexts();

/** At exactly the distance for which each is counted. */
const DISTANT = ["token=example9中", "=", ".", "eyJaaaaaaaaaaa"].map((unit): Hostile => ({ name: unit, unit }));

describe("a hostile text", () => {
  test("takes a bounded number of steps for each of its characters, whatever is repeated in it", () => {
    const dear = ALL.map((hostile) => ({
      name: hostile.name,
      work: Math.max(...workOf(repeated(hostile, 4_096))) / 4_096,
    }))
      .filter(({ work }) => work > MOST_WORK)
      .map(({ name, work }) => `${name}: ${Math.round(work)}`);
    expect(dear).toEqual([]);
  });

  test("takes few more steps where several units follow each other", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom<Hostile>(...ALL), { minLength: 2, maxLength: 5 }), (units) => {
        const unit = units.map((one) => one.unit).join("");
        expect(tooMuch(repeated({ name: "", unit }, LENGTH), MOST_JOINED)).toEqual([]);
      }),
      { numRuns: 300, examples: [[DISTANT]] },
    );
  });

  test("is searched in slices of which none is larger than the others", () => {
    fc.assert(
      fc.property(fc.constantFrom<Hostile>(...ALL), (hostile) => {
        const slices = workOf(repeated(hostile, LENGTH));
        expect(slices).toHaveLength(4);
        expect(slices.filter((work) => work > MOST_LONG * SLICE)).toEqual([]);
      }),
      { numRuns: 100 },
    );
  });

  test("is redacted as JSON into valid JSON of which a second redaction changes nothing", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom<Hostile>(...ALL), { minLength: 1, maxLength: 4 }), (units) => {
        const texts = units.map((one) => repeated(one, 2_000));
        const json = JSON.stringify({ password: texts.join(" "), list: texts });
        const once = redactJson(json).text;
        expect(Object.keys(JSON.parse(once) as object)).toEqual(["password", "list"]);
        expect(redactJson(once)).toEqual({ text: once, findings: [] });
        if (!mightHoldSecret(json)) expect(once).toBe(json);
      }),
      { numRuns: 300 },
    );
  });

  test("that is one value of millions of characters makes no slice cost more", () => {
    expect(tooMuch(repeated({ name: "", unit: "password=" }, 64 * SLICE))).toEqual([]);
  });

  // The probes do not count what an expression reads, so only time shows it.
  test.each(["---\nkind: Secret\n", "kind: Secret\n```\n", "---\n---\n---\nkind: Secret\ndata:\n a: b\n"])(
    "of the documents %j is read once, not once for each of them",
    async (unit) => {
      const taken = (length: number) =>
        processorMs(() => {
          const found = findSecrets(unit.repeat(length / unit.length));
          expect(found.filter(({ rule }) => rule !== "crowded-secrets")).toEqual([]);
        });
      const ofShort = await taken(1 << 18);
      expect(await taken(1 << 22)).toBeLessThan(60 * ofShort);
    },
  );

  test("of unended keys finds every one of them", () => {
    const header = `-----BEGIN ${"PRIVATE"} KEY-----`;
    expect(findSecrets(header.repeat(100))).toHaveLength(100);
  });
});
