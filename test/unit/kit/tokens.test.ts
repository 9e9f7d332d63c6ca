import fc from "fast-check";
import { expect, it } from "vitest";
import { systemClock } from "../../../src/kit/clock.ts";
import { base32, newId } from "../../../src/kit/ids.ts";
import { systemRandom } from "../../../src/kit/random.ts";
import { isWellFormedToken, newConnectCode, newToken, normalizeConnectCode } from "../../../src/kit/tokens.ts";
import { anyText } from "../../support/texts.ts";

it("makes tokens that it recognises, and no longer after any change of one character", () => {
  for (let i = 0; i < 200; i++) {
    const token = newToken("rkd", systemRandom);
    expect(isWellFormedToken(token, "rkd")).toBe(true);
    expect(isWellFormedToken(token, "rkr")).toBe(false);
    const at = 4 + (i % 36);
    const other = token[at] === "a" ? "b" : "a";
    expect(isWellFormedToken(token.slice(0, at) + other + token.slice(at + 1), "rkd")).toBe(false);
  }
});

it("uses every base62 character about equally in a token", () => {
  const counts = new Map<string, number>();
  for (let i = 0; i < 2_000; i++)
    for (const c of newToken("rkd", systemRandom).slice(4, 34)) counts.set(c, (counts.get(c) ?? 0) + 1);
  const expected = (2_000 * 30) / 62;
  expect(counts.size).toBe(62);
  // Six standard deviations: chance alone fails this less than once in ten million runs.
  for (const count of counts.values()) expect(Math.abs(count - expected)).toBeLessThan(6 * Math.sqrt(expected));
});

it("reads a connect code back however it was typed", () => {
  const code = newConnectCode(systemRandom);
  expect(code).toMatch(/^(?:[0-9A-Z]{4}-){5}[0-9A-Z]{4}$/);
  const plain = code.replaceAll("-", "");
  for (const typed of [code, plain, code.toLowerCase(), ` ${code} `, plain.replaceAll("0", "o").replaceAll("1", "L")])
    expect(normalizeConnectCode(typed)).toBe(plain);
});

it("takes nothing else for a connect code and never throws", () => {
  fc.assert(
    fc.property(anyText(), (text) => {
      const read = normalizeConnectCode(text);
      expect(read === undefined || /^[0-9A-HJKMNP-TV-Z]{24}$/.test(read)).toBe(true);
    }),
  );
});

it("makes ids that sort by time and fit a URL", () => {
  const ids = [1, 2, 300, 2 ** 40].map((now) => newId("team", { ...systemClock, now: () => now }, systemRandom));
  expect([...ids].sort()).toEqual(ids);
  for (const id of ids) expect(id).toMatch(/^team_[0-9a-z]{26}$/);
});

it("spells bytes in base32 most significant bit first", () => {
  expect(base32(Buffer.from([0xff]))).toBe("zw");
  expect(base32(Buffer.from([0, 0, 0, 0, 1]))).toBe("00000001");
});
