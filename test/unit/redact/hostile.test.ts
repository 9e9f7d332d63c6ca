import { describe, expect, test } from "vitest";
import { findSecrets, mightHoldSecret, redactJson } from "../../../src/redact/redact.ts";
import { RULES } from "../../../src/redact/rules.ts";

const SMALL = 1 << 14;
const LARGE = SMALL * 8;
const MOST = 40;

const fill = (piece: string, length: number): string => piece.repeat(Math.ceil(length / piece.length)).slice(0, length);

/** Milliseconds of processor time: what else the machine does does not count. */
function spent(work: () => unknown): number {
  const start = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(start);
  return (user + system) / 1_000;
}

/**
 * Eight times the text may take eight times as long, and some for noise. A quadratic rule would take 64 times as long;
 * what is too short to measure counts as a millisecond, and a slow run is tried again: noise only ever adds.
 */
function expectLinear(name: string, make: (length: number) => string, work: (text: string) => unknown): void {
  const small = make(SMALL);
  const large = make(LARGE);
  work(small);
  const ratio = (): number =>
    spent(() => work(large)) /
    Math.max(
      1,
      Math.min(
        spent(() => work(small)),
        spent(() => work(small)),
      ),
    );
  let best = ratio();
  for (let again = 0; again < 4 && best >= MOST; again++) best = Math.min(best, ratio());
  expect(best, name).toBeLessThan(MOST);
}

const scan = (text: string): void => {
  findSecrets(text);
  mightHoldSecret(text);
};

describe("a hostile text", () => {
  test.each(RULES.map((rule) => [rule.id, rule] as const))("takes %s time in proportion to its length", (id, rule) => {
    const anchor = (rule.anchors[0] ?? "").replaceAll(/\[(.)[^\]]*\]/g, "$1");
    const example = rule.examples()[0] ?? "";
    expectLinear(`${id}: its mark repeated`, (n) => fill(anchor, n), scan);
    expectLinear(`${id}: its mark and one long word`, (n) => anchor + fill("aB3", n), scan);
    expectLinear(`${id}: marks apart`, (n) => fill(` -${anchor}`, n), scan);
    expectLinear(`${id}: near misses`, (n) => fill(`${example.slice(0, -1)}! `, n), scan);
  });

  test.each([
    `-----BEGIN ${"PRIVATE"} KEY-----`,
    `---- BEGIN SSH2 ENCRYPTED ${"PRIVATE"} KEY ----`,
    "PuTTY-User-Key-File-2: ssh-rsa\n",
    "password",
    "password=",
    "password: ",
    'token"  ',
    "authorization: ",
    "Bearer ",
    "://",
    "://a:b",
    "curl -u ",
    " -eyJaaaaaaaaaa",
    ".eyJaaaaaaaaaa",
    "\\",
    '"',
    '\\"',
    "[REDACTED:x]",
  ])("of %s repeated takes time in proportion to its length", (piece) => {
    expectLinear(piece, (n) => fill(piece, n), scan);
    expectLinear(
      `${piece} in JSON`,
      (n) => JSON.stringify({ password: fill(piece, n), [fill(piece, n)]: "x" }),
      redactJson,
    );
  });

  test("of unended keys finds every one of them", () => {
    const header = `-----BEGIN ${"PRIVATE"} KEY-----`;
    expect(findSecrets(header.repeat(100))).toHaveLength(100);
  });
});
