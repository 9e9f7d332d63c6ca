import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { nextMinor } from "../../../src/kit/versions.ts";
import { RULES } from "../../../src/redact/rules.ts";
import { clean } from "../../../src/share/packs/clean.ts";
import { installCommand } from "../../../src/share/packs/download.ts";
import { countRules, readName, readReadme, readTags, readVersion } from "../../../src/share/packs/rules.ts";

describe("what a pack is called", () => {
  it("is a slug that fits an address and a folder on any system", () => {
    for (const name of ["ab", "cookie-rules", "a1-b2", "x".repeat(64)]) expect(readName(` ${name} `)).toBe(name);
    for (const name of ["", "a", "A-b", "a--b", "-a", "a-", "a_b", "a/b", "../a", "a.b", "ü", "x".repeat(65), "new"])
      expect(() => readName(name), name).toThrow(/pack's name/);
  });

  it("has a version of semver.org that says what comes before what", () => {
    for (const version of ["0.0.1", "1.2.3", "1.0.0-beta.1"]) expect(readVersion(version)).toBe(version);
    for (const version of ["", "1", "1.2", "v1.2.3", "01.2.3", "1.2.3+build", "1.2.3 4", "=1.2.3", "1.2.x"])
      expect(() => readVersion(version), version).toThrow(/three numbers/);
    expect([nextMinor("1.2.3"), nextMinor("2.0.0-rc.1")]).toEqual(["1.3.0", "2.0.0"]);
  });

  it("has up to ten tags as slugs, each once, sorted", () => {
    expect(readTags(["TypeScript", " react ", "", "typescript", "C#", "C++", "Node.js", ".NET"])).toEqual([
      "c-sharp",
      "cpp",
      "net",
      "node-js",
      "react",
      "typescript",
    ]);
    for (const tag of ["<b>", "a/b", "x".repeat(33), "ü"]) expect(() => readTags([tag]), tag).toThrow(/a tag has/);
    expect(() => readTags(Array.from({ length: 11 }, (_, i) => `t${i}`))).toThrow("at most 10 tags");
  });

  it("has a README that is text of a bounded size", () => {
    expect(readReadme("# One\r\n\r\ntwo\n\n")).toBe("# One\n\ntwo\n");
    expect(readReadme("  \n")).toBe("");
    for (const text of ["x".repeat(65_536), `${"x".repeat(65_535)}\n`]) expect(readReadme(text)).toHaveLength(65_536);
    expect(() => readReadme("x".repeat(65_537))).toThrow("64 KiB");
    expect(() => readReadme("a\0b")).toThrow("not text");
  });
});

it("counts prevention rules, one a line that begins with the words", () => {
  const text = [
    "**Prevention rule:** one",
    "- Prevention rule: two",
    "> Prevention Rules",
    "prevention rule – three",
    "no Prevention rule here",
    "Preventions rule",
  ].join("\n");
  expect(countRules(text)).toBe(4);
});

describe("redaction of a pack", () => {
  const yieldNow = () => undefined;

  it("names file, line and rule of a certain secret, and never its value", async () => {
    const certain = fc.constantFrom(...RULES.filter((rule) => rule.strength === "certain"));
    await fc.assert(
      fc.asyncProperty(certain, fc.nat(5), async (rule, lines) => {
        const secret = rule.examples()[0] as string;
        const { text, leaks } = await clean("errors.md", `${"line\n".repeat(lines)}see ${secret} there\n`, yieldNow);
        expect(leaks.some((one) => one.path === "errors.md" && one.line >= lines + 1)).toBe(true);
        expect(JSON.stringify(leaks) + text).not.toContain(secret);
      }),
    );
  });

  it("shows the line as it will be published where a likely secret was replaced", async () => {
    const { text, leaks, replaced } = await clean(
      "errors.md",
      "one\nDB_PASSWORD=Hq7xT2mK9vL4 and API_TOKEN=Zk3pQ8wR5tY7uN2m\nthree postgres://app:Wd9sJ4hF6gB1@db/x\n",
      yieldNow,
    );
    expect(leaks).toEqual([]);
    expect(replaced.map(({ line, rule, text }) => [line, rule, text])).toEqual([
      [2, "assigned-secret", "DB_PASSWORD=[REDACTED:assigned-secret] and API_TOKEN=[REDACTED:assigned-secret]"],
      [2, "assigned-secret", "DB_PASSWORD=[REDACTED:assigned-secret] and API_TOKEN=[REDACTED:assigned-secret]"],
      [3, "url-password", "three postgres://app:[REDACTED:url-password]@db/x"],
    ]);
    expect(text).not.toMatch(/Hq7xT2mK9vL4|Zk3pQ8wR5tY7uN2m|Wd9sJ4hF6gB1/);
  });
});

it("quotes the base URL for the shell", () => {
  const line = installCommand("https://reckon.example/it's $(here)", { name: "a", version: "1.0.0", sha256: "0" });
  expect(line).toContain(`'https://reckon.example/it'\\''s $(here)/marketplace/packs/a/1.0.0/download'`);
  expect(line).not.toContain("\n");
});
