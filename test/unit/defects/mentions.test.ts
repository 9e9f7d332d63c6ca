import { expect, it } from "vitest";
import { parseEntries } from "../../../src/formats/errors/parse.ts";

const entryOf = (body: string) => parseEntries(`## 2026-11-20 A\n\n${body}\n`)[0];

it.each<[string, string[]]>([
  ["Since abc1234.", ["abc1234"]],
  ["Fixed in `ABC1234` and (def5678).", ["abc1234", "def5678"]],
  ["abc1234..def5678", ["abc1234", "def5678"]],
  [
    "Fixed by [abc1234](https://github.com/a/b/commit/abc12340000000000000000000000000000000ff).",
    ["abc1234", "abc12340000000000000000000000000000000ff"],
  ],
  ["commit 1234567, sha: `7654321`", ["1234567", "7654321"]],
  ["commit defaced", ["defaced"]],
  ["```\nabc1234 fix the loop\n```", ["abc1234"]],
  ["abc1234 and abc1234 again", ["abc1234"]],
  ["Issue 1234567 of 20261120, defaced, effaced", []],
  ["3f2504e0-4f89-11d3-9a0c-0305e82c3301", []],
  ["#ff00aa80 and 0xdeadbeef1 and main.a1b2c3d4.js", []],
  ["abc123", []],
  [`${"ab12".repeat(10)}0`, []],
])("finds the commits of %j", (body, commits) => {
  expect(entryOf(body)?.commits).toEqual(commits);
});

it("finds what the heading names too", () => {
  const [entry] = parseEntries("## 2026-11-20 src/a.ts broke in abc1234\n");
  expect([entry?.commits, entry?.files]).toEqual([["abc1234"], ["src/a.ts"]]);
});

it.each<[string, string[]]>([
  ["In `src/http/serve.ts:42`.", ["src/http/serve.ts"]],
  ["(src/http/serve.ts:42:7), src/a.py#L3-L9; ./lib/b.go:1-20", ["src/http/serve.ts", "src/a.py", "lib/b.go"]],
  ['See [the page](app/[slug]/page.tsx) and "Makefile".', ["app/[slug]/page.tsx", "Makefile"]],
  ["`app/(shop)/[id]/page.tsx`", ["app/(shop)/[id]/page.tsx"]],
  ["src\\win\\main.cs", ["src/win/main.cs"]],
  ["../../docs/a.md and **package.json**", ["docs/a.md", "package.json"]],
  ["https://github.com/a/b/blob/main/src/x.ts#L5", ["src/x.ts"]],
  ["`.github/workflows/ci.yml`, .env, docker/Dockerfile", [".github/workflows/ci.yml", ".env", "docker/Dockerfile"]],
  ["```\n  at run (src/x.ts:1:2)\n```", ["src/x.ts"]],
  ["| src/a.ts | src/b.ts |", ["src/a.ts", "src/b.ts"]],
  ["src/a.ts, src/a.ts", ["src/a.ts"]],
  ["and/or, 1/2, he/she, TCP/IP, e.g. this, i.e. that", []],
  ["Node.js and Next.js, process.env, console.log(x), v1.2.3, example.com", []],
  ["https://example.com/a/b.html mailto:a@b.c", []],
])("finds the files of %j", (body, files) => {
  expect(entryOf(body)?.files).toEqual(files);
});

it("bounds how many of each are kept", () => {
  const many = Array.from({ length: 500 }, (_, i) => `src/f${i}.ts a${String(i).padStart(8, "0")}`).join("\n");
  const entry = entryOf(many);
  expect([entry?.commits.length, entry?.files.length]).toEqual([50, 100]);
});

it("looks no further than an entry's first pages", () => {
  const far = `${"`src/a.ts` abc1234 ".repeat(5_000)} src/far.ts def5678`;
  const entry = entryOf(`src/near.ts a1b2c3d ${far}`);
  expect([entry?.commits, entry?.files]).toEqual([
    ["a1b2c3d", "abc1234"],
    ["src/near.ts", "src/a.ts"],
  ]);
});
