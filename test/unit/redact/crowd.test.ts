import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { findSecrets, redactJson, redactText } from "../../../src/redact/redact.ts";

const PIECES = ["password: 9", "pw:a1b2c3 ", "mysql -p;", "sshpass -p 9", 'password":"9', "token=a1b2c3d4 "];
const crowdOf = (piece: string): string => piece.repeat(Math.ceil(20_000 / piece.length));
const rulesOf = (text: string): string[] => findSecrets(text).map(({ rule }) => rule);

/** Candidates that are no secrets: rows of marks, of examples, of names without a value. */
const MISSES = [
  "tskey-",
  "sk_live_",
  "bb_live_-",
  "pw:",
  '<password>"',
  "token=example9\u4e2d",
  "mysql -p.",
  "sshpass -p a",
];

describe("findings that crowd", () => {
  test.each(PIECES)("are masked after the first hundreds: %j", (piece) => {
    const text = crowdOf(piece);
    const found = findSecrets(text);
    expect(found.at(-1)?.rule).toBe("crowded-secrets");
    expect(found.length).toBeLessThan(400);
    expect(found.at(-1)?.end).toBeGreaterThan(text.length - piece.length);
    expect(redactText(redactText(text).text).findings).toEqual([]);
  });

  test("hide nothing that follows them", () => {
    const tails = [
      ` and 'long' words ${"w ".repeat(80)}\npassword: hunter22x\n`,
      ` token='${"a1b2c3d4".repeat(40)}' `,
      ` password=${"a1b2c3d4".repeat(400)}`,
      ` mysql -h host ${"-v ".repeat(60)} -pa1b2c3d4\n`,
    ];
    fc.assert(
      fc.property(fc.constantFrom(...PIECES), fc.constantFrom(...tails), (piece, tail) => {
        const secret = /hunter22x|a1b2c3d4$|(?:a1b2c3d4)+(?=['\n]|$)/.exec(tail) as RegExpExecArray;
        const text = crowdOf(piece) + tail;
        const at = text.length - tail.length + secret.index;
        expect(findSecrets(text).some(({ start, end }) => start <= at && end >= at + secret[0].length)).toBe(true);
      }),
    );
  });

  test("leave a certain one certain", () => {
    const token = `ghp_${"aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dF3hJ5"}`;
    const found = findSecrets(`${crowdOf("pw:a1b2c3 ")} ${token} ${crowdOf("pw:a1b2c3 ")}`);
    expect(found.some(({ strength }) => strength === "certain")).toBe(true);
  });

  test("mask nothing of a document's other members", () => {
    const json = JSON.stringify({ before: "x", crowd: crowdOf("pw:a1b2c3 "), after: "y", list: ["z"] });
    expect(JSON.parse(redactJson(json).text)).toMatchObject({ before: "x", after: "y", list: ["z"] });
  });

  test("are judged one by one in what looks like a file of settings", () => {
    const lines = Array.from({ length: 400 }, (_, i) => `SERVICE_${i}_PASSWORD=a1b2c3d4e5${i}\n`).join("");
    expect(new Set(rulesOf(lines))).toEqual(new Set(["assigned-secret"]));
    expect(findSecrets(lines)).toHaveLength(400);
  });
});

describe("candidates that crowd", () => {
  test.each(MISSES)("are masked, although they are no secrets: %j", (piece) => {
    const text = crowdOf(piece);
    const once = redactText(text);
    expect(new Set(once.findings.map(({ rule }) => rule))).toEqual(new Set(["crowded-secrets"]));
    expect(once.text.length).toBeLessThan(12_000);
    expect(redactText(once.text)).toEqual({ text: once.text, findings: [] });
  });

  test("are left alone in what people and their programs write", () => {
    const names = Array.from({ length: 2_000 }, (_, i) => `const token${i} = parser.nextToken(TokenKind.Name);\n`).join(
      "",
    );
    const keys = Array.from({ length: 2_000 }, (_, i) => `"field_${i}_key": "${i}",\n`).join("");
    const mime = `${"A".repeat(4_000)}${"AAAAAAAAAAAAAAAAAAAAEAAAA".repeat(400)}`;
    for (const text of [names, keys, mime]) expect(findSecrets(text)).toEqual([]);
  });

  test.each([
    ["Nothing of this matters, and it is kept to the letter. ", 200],
    ["Nothing of this is a secret, and it is kept to the letter. ", 1_500],
  ])("end where ordinary text begins, which is judged as usual: %j", (sentence, most) => {
    const prose = sentence.repeat(60);
    for (const piece of MISSES) {
      const { text } = redactText(`${crowdOf(piece)} ${prose}password=hunter22x ${prose}`);
      expect([piece, text.endsWith(`${prose.slice(most)}password=[REDACTED:assigned-secret] ${prose}`)]).toEqual([
        piece,
        true,
      ]);
    }
  });

  test.each([...MISSES, ...PIECES])("are masked where nothing of their kind follows for long: %j", (piece) => {
    const tail = ` ${"Nothing of this matters to anybody. ".repeat(20)}password=hunter22x`.repeat(200);
    const text = `${crowdOf(piece)}${tail}`;
    const { findings } = redactText(text);
    const [covered, ...others] = findings.filter(({ end }) => end > crowdOf(piece).length - 200);
    expect(covered?.rule).toBe("crowded-secrets");
    expect(covered?.end).toBeLessThan(crowdOf(piece).length + 200);
    expect(others.map(({ rule }) => rule)).toEqual(Array.from({ length: 200 }, () => "assigned-secret"));
  });

  test("hide no certain finding where they are only names", () => {
    const token = `ghp_${"aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dF3hJ5"}`;
    const found = findSecrets(`${crowdOf("pw:")} ${token} ${crowdOf("pw:")}`);
    expect(found.some(({ strength }) => strength === "certain")).toBe(true);
  });

  test("are not masked in text that was redacted before", () => {
    const pieces = [...MISSES, ...PIECES, "password=a1b2c3d4e5f6g7h8i9 ", "ghp_", "a plain sentence of some words. "];
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.constantFrom(...pieces), fc.integer({ min: 1, max: 700 })), {
          minLength: 1,
          maxLength: 6,
        }),
        (rows) => {
          const { text } = redactText(rows.map(([piece, count]) => piece.repeat(count)).join(" "));
          expect(redactText(text)).toEqual({ text, findings: [] });
        },
      ),
      { numRuns: 300 },
    );
  });
});
