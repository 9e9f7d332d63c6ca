import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { globMatcher, judgeGlob } from "../../../src/kit/glob.ts";

const matches = (glob: string, path: string) => globMatcher(glob)(path);

describe("a path glob", () => {
  it.each<[string, string[], string[]]>([
    ["docs/*.md", ["docs/a.md", "docs/.a.md"], ["docs/x/a.md", "a.md", "Docs/a.md", "docs/a.mdx"]],
    ["docs/**", ["docs/a.md", "docs/x/y/.z.md"], ["docs", "docsx/a.md", "x/docs/a.md"]],
    ["**/errors.md", ["errors.md", ".claude/brain/errors.md"], ["x/errors.md/y", "xerrors.md"]],
    [".claude/**/*.md", [".claude/a.md", ".claude/brain/errors.md"], ["x.claude/a.md", "claude/a.md"]],
    ["**", ["a", ".a/.b/c.md"], []],
    ["*", ["a.md", ".hidden"], ["a/b.md"]],
    ["a/**/b/**/c", ["a/b/c", "a/x/b/y/z/c", "a/b/b/c"], ["a/c", "a/b", "a/c/b"]],
    ["adr-000?.md", ["adr-0007.md"], ["adr-000.md", "adr-00077.md", "adr-000/.md"]],
    ["a**z", ["az", "abcz"], ["a/z"]],
    ["app/[slug]/page.md", ["app/[slug]/page.md"], ["app/s/page.md"]],
    ["(a|b)+.md", ["(a|b)+.md"], ["a.md"]],
    ["caf\u00e9.md", ["cafe\u0301.md"], ["cafe.md"]],
  ])("%s takes and leaves what its notation says", (glob, taken, left) => {
    expect(judgeGlob(glob)).toBeUndefined();
    for (const path of taken) expect([path, matches(glob, path)]).toEqual([path, true]);
    for (const path of left) expect([path, matches(glob, path)]).toEqual([path, false]);
  });

  it("agrees with a plain search through all ways to match", () => {
    const slow = (text: string, pattern: string): boolean => {
      if (pattern === "") return text === "";
      if (pattern[0] === "*") return slow(text, pattern.slice(1)) || (text !== "" && slow(text.slice(1), pattern));
      return text !== "" && (pattern[0] === "?" || pattern[0] === text[0]) && slow(text.slice(1), pattern.slice(1));
    };
    const text = fc.string({ unit: fc.constantFrom("a", "b", "."), minLength: 1, maxLength: 10 });
    const pattern = fc.string({ unit: fc.constantFrom("a", "b", ".", "*", "?"), minLength: 1, maxLength: 7 });
    fc.assert(fc.property(text, pattern, (path, glob) => matches(`x/${glob}`, `x/${path}`) === slow(path, glob)));
  });

  it("finds the parts that ** skips wherever they are", () => {
    const slow = (path: string[], glob: string[]): boolean => {
      if (glob.length === 0) return path.length === 0;
      if (glob[0] === "**") return slow(path, glob.slice(1)) || (path.length > 0 && slow(path.slice(1), glob));
      return path.length > 0 && path[0] === glob[0] && slow(path.slice(1), glob.slice(1));
    };
    const path = fc.array(fc.constantFrom("a", "b"), { minLength: 1, maxLength: 7 });
    const glob = fc.array(fc.constantFrom("a", "b", "**"), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(path, glob, (parts, globs) => {
        const wanted =
          globs.at(-1) === "**" ? parts.some((_, i) => slow(parts.slice(0, i), globs)) : slow(parts, globs);
        return matches(globs.join("/"), parts.join("/")) === wanted;
      }),
    );
  });

  it.each([
    [`${"*a".repeat(127)}b`, "a".repeat(512)],
    [`${"**/a/".repeat(50)}b`, `${"a/".repeat(255)}c`],
    [`${"**/*a*/".repeat(36)}b`, `${"aa/".repeat(170)}c`],
    [`${"?".repeat(200)}*b`, "a".repeat(512)],
    ["*".repeat(255), `${"a".repeat(511)}/`],
    [`*${"a".repeat(200)}b`, "a".repeat(512)],
  ])("%s costs little on a path made for it", (glob, path) => {
    const matcher = globMatcher(glob);
    // Matchers that backtrack need longer than the age of the universe for some of these.
    expect(matcher(path)).toBe(false);
  });

  it.each([
    ["", /empty/],
    ["/docs/**", /relative/],
    ["docs/", /docs\/\*\*/],
    ["a//b", /empty/],
    ["../a", /\.\./],
    ["./a", /"\."/],
    ["docs\\*.md", /backslash/],
    ["{a,b}.md", /braces/],
    ["!a.md", /begins with !/],
    ["a".repeat(257), /256/],
  ])("%j is refused with a reason", (glob, reason) => {
    expect(judgeGlob(glob)).toMatch(reason);
  });
});
