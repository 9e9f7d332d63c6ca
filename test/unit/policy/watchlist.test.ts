import { expect, it } from "vitest";
import { comparePolicies, MAX_GLOBS, parsePolicy, readWatchlist } from "../../../src/record/policy/policy.ts";

it.each([
  "src/auth/**",
  "**/*.tf",
  ".env*",
  "app/[id]/page.tsx",
  "a/{b,c}.md",
  "!(a|b)/c",
  "x[[]y",
  "docs/with space.md",
  "päth/ß?",
])("takes %s", (glob) => {
  expect(readWatchlist(glob)).toEqual({ globs: [glob], wrong: [] });
});

it.each([
  ["/etc/passwd", /relative/],
  ["~/x", /relative/],
  ["C:/x", /relative/],
  ["src\\auth", /not \\/],
  ["a/../b", /leave the repository/],
  ["!src/**", /exception/],
  ["a\u0000b", /control/],
  ["a\ud800", /control/],
  ["src/[ab", /close its \[/],
  ["a/{b,c", /close its \{/],
  [`${"x".repeat(513)}`, /at most 512/],
  [`ghp_${"A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8".slice(0, 36)}`, /secret/],
])("refuses %j", (glob, because) => {
  expect(readWatchlist(glob).wrong).toEqual([{ line: 1, glob, wrong: expect.stringMatching(because) }]);
  expect(() => parsePolicy(JSON.stringify({ captureMode: "off", watchlist: ["ok", glob] }))).toThrow(/watchlist\.1/);
});

it.each([
  ['{"captureMode":"off","captureMode":"full"}', /names "captureMode" twice/],
  ['{"captureMode":"off","\\u0063aptureMode":"full"}', /names "captureMode" twice/],
  ['{"captureMode":"off","actions":{"requireApprovals":true,"requireApprovals":false}}', /"requireApprovals" twice/],
  ['{"captureMode":"off","captureMode', /not valid JSON/],
])("refuses %s", (text, because) => {
  expect(() => parsePolicy(text)).toThrow(because);
});

it("counts lines as an editor does, whatever ends them, and leaves empty and repeated ones out", () => {
  expect(readWatchlist("a\r\n\r\n b \rb\n../c")).toEqual({
    globs: ["a", "b"],
    wrong: [{ line: 5, glob: "../c", wrong: expect.any(String) }],
  });
});

it("stops at the largest number of entries that a watchlist may have", () => {
  const text = Array.from({ length: MAX_GLOBS + 1 }, (_, i) => `f${i}`).join("\n");
  const { globs, wrong } = readWatchlist(text);
  expect([globs.length, wrong.map(({ line }) => line)]).toEqual([MAX_GLOBS, [MAX_GLOBS + 1]]);
});

it("compares policies member by member, where a missing member counts as the default", () => {
  const one = parsePolicy(
    '{"captureMode":"off","watchlist":["a","b"],"actions":{"requireApprovals":false,"cost":{"max":1}}}',
  );
  const two = parsePolicy(
    '{"captureMode":"full","watchlist":["b","c"],"actions":{"requireApprovals":true,"cost":{"max":2}}}',
  );
  expect(comparePolicies(one, two)).toEqual({
    captureMode: { from: "off", to: "full" },
    requireApprovals: { from: false, to: true },
    added: ["c"],
    removed: ["a"],
    actions: ["cost"],
  });
  expect(comparePolicies({ captureMode: "off" }, parsePolicy('{"captureMode":"off"}'))).toEqual({
    added: [],
    removed: [],
    actions: [],
  });
});
