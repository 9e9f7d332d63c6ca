import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { findSecrets, redactJson, redactText } from "../../../src/redact/redact.ts";

const PIECES = ["password: 9", "pw:a1b2c3 ", "mysql -p;", "sshpass -p 9", 'password":"9', "token=a1b2c3d4 "];
const crowdOf = (piece: string): string => piece.repeat(400);
const rulesOf = (text: string): string[] => findSecrets(text).map(({ rule }) => rule);

describe("findings that crowd", () => {
  test.each(PIECES)("are covered from the first hundreds on: %j", (piece) => {
    const text = crowdOf(piece);
    const found = findSecrets(text);
    expect(found.at(-1)?.rule).toBe("crowded-secrets");
    expect(found.length).toBeLessThan(200);
    expect(found.at(-1)?.end).toBeGreaterThan(text.length - piece.length);
    expect(redactText(redactText(text).text).findings).toEqual([]);
  });

  test("hide nothing that stands behind them", () => {
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

  test("cover nothing of a document's other members", () => {
    const json = JSON.stringify({ before: "x", crowd: crowdOf("pw:a1b2c3 "), after: "y", list: ["z"] });
    expect(JSON.parse(redactJson(json).text)).toMatchObject({ before: "x", after: "y", list: ["z"] });
  });

  test("are judged one by one where they stand as in a file of settings", () => {
    const lines = Array.from({ length: 400 }, (_, i) => `SERVICE_${i}_PASSWORD=a1b2c3d4e5${i}\n`).join("");
    expect(new Set(rulesOf(lines))).toEqual(new Set(["assigned-secret"]));
    expect(findSecrets(lines)).toHaveLength(400);
  });
});
