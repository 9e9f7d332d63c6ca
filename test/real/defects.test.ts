import { expect, it } from "vitest";
import { parseFile } from "../../src/insight/defects/defects.ts";
import { startWithDevice } from "../support/instance.ts";
import { type BrainFile, brains, describeReal } from "./data.ts";

/**
 * Dated headings of agents' journals as public repositories keep them. Nobody there writes errors files by this contract yet: no
 * paragraph begins with the words "Prevention rule", and none of the headings is marked as open. What is counted was counted
 * with grep and read by a person.
 */
const DATED: readonly { repo: string; entries: number }[] = [
  { repo: "1w2w3y/gpt-image-1-playground", entries: 0 },
  { repo: "EntityProcess/agentv", entries: 0 },
  { repo: "EveryInc/compound-engineering-plugin", entries: 0 },
  { repo: "entireio/cli", entries: 0 },
  { repo: "franklinbaldo/egregora", entries: 67 },
  { repo: "gtapps/claude-code-hermit", entries: 0 },
  { repo: "ryoppippi/ccusage", entries: 0 },
];

/** Headings as grep finds them, fences and all: level 2, beginning with a date behind at most a few marks. */
const LIKE_AN_ENTRY = /^## [^\p{L}\p{N}]{0,8}\d{4}-\d{2}-\d{2}/gmu;

const filesOf = (repo: string): readonly BrainFile[] => brains().get(repo) ?? [];

describeReal("the entries of real brains", () => {
  it.each(DATED)("finds the $entries dated headings of $repo", ({ repo, entries }) => {
    const files = filesOf(repo);
    expect(files.length).toBeGreaterThan(0);
    const found = files.flatMap(({ content }) => parseFile(content).entries);
    expect(found).toHaveLength(entries);
    expect(files.reduce((sum, { content }) => sum + (content.match(LIKE_AN_ENTRY)?.length ?? 0), 0)).toBe(entries);
  });

  it("reads titles without date, mark and separator, and takes no closed entry for open", () => {
    const found = [...brains().values()].flat().flatMap(({ content }) => parseFile(content).entries);
    for (const { title, date, open, rule } of found) {
      expect(title).not.toMatch(/^[\s–—:|-]|\d{4}-\d{2}-\d{2}/);
      expect(date).toMatch(/^202[456]-[01]\d-[0-3]\d$/);
      expect([open, rule]).toEqual([false, null]);
    }
    expect(new Set(found.map(({ title }) => title)).size).toBeGreaterThan(40);
  });

  it("names files that stand in the repository's own journals as it names them", () => {
    const found = filesOf("franklinbaldo/egregora").flatMap(({ content }) => parseFile(content).entries);
    const named = new Set(found.flatMap(({ files }) => files));
    for (const file of named) expect(file).not.toMatch(/[\s`*:"'<>|,;]|\.$|^\.\.?\//);
    expect(named.size).toBeGreaterThan(40);
  });

  it("reads all of it in less than 200 ms of processor time a MiB", () => {
    const texts = [...brains().values()].flat().map(({ content }) => content);
    for (const text of texts) parseFile(text);
    const before = process.threadCpuUsage();
    for (const text of texts) parseFile(text);
    const { user, system } = process.threadCpuUsage(before);
    const mebibytes = texts.reduce((sum, text) => sum + text.length, 0) / 2 ** 20;
    expect((user + system) / 1000 / mebibytes).toBeLessThan(200);
  });

  it("answers metrics and a briefing on a real journal kept as errors file", async () => {
    const { t, token } = await startWithDevice();
    const sources = filesOf("franklinbaldo/egregora").filter(({ content }) => parseFile(content).entries.length > 0);
    const files = [{ path: ".claude/brain/errors.md", content: sources.map(({ content }) => content).join("\n\n") }];
    await t.post("/api/brain/ingest", { token, json: { version: 1, repoKey: "egregora", files } });
    const { body } = await t.get("/api/brain/metrics", { token });
    expect(body).toMatchObject({ total: 67, openTotal: 0, trend: "flat" });
    // The same journal was kept in two folders, so entries of both form classes that recur.
    expect(body.recurringClasses.length).toBeGreaterThan(0);
    const briefing = await t.get("/api/brain/briefing", { token });
    expect(briefing.text).toContain(body.recurringClasses[0].titles[0]);
    expect(Buffer.byteLength(briefing.text)).toBeLessThanOrEqual(1_500);
  });
});
