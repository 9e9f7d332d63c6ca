import { expect, it } from "vitest";
import {
  type Defect,
  defectsOfClass,
  entryText,
  listDefects,
  newestWith,
  onWire,
  wholeClass,
} from "../../../src/insight/defects/defects.ts";
import { startWithDevice } from "../../support/instance.ts";

const FILE = `# Errors

## 2026-11-20 First

Text of the first.

\`\`\`sh
## 2026-01-01 no heading in a fence
\`\`\`

> ## nor in a quote

### Its own part

**Prevention rule:** same rule.

## Not dated

Of nobody.

2026-11-13 Underlined,
over two lines
--------------

Text of the underlined.

**Prevention rule:** Same rule!

## 2026-05-01 Bare
`;

async function published(content = FILE) {
  const { t, core, device } = await startWithDevice();
  const json = { repoKey: "shop", version: 1, files: [{ path: ".claude/brain/errors.md", content }] };
  expect((await t.post("/api/brain/ingest", { token: device.token, json })).status).toBe(200);
  await t.instance.settle();
  return { t, core, team: device.team.id, token: device.token };
}

it("gives the text that stands below an entry's heading, up to the next heading of its level", async () => {
  const { core, team } = await published();
  const texts = listDefects(core, team).map((one) => entryText(core, team, one)?.trim());
  expect(texts).toEqual([
    FILE.slice(FILE.indexOf("Text of the first"), FILE.indexOf("## Not dated")).trim(),
    FILE.slice(FILE.indexOf("Text of the underlined"), FILE.indexOf("## 2026-05-01")).trim(),
    "",
  ]);
});

it("finds the entries of a class by the beginning of its fingerprint, and none for an invalid one", async () => {
  const { t, core, team } = await published();
  const [first] = listDefects(core, team);
  const name = onWire(first?.fingerprint as Buffer);
  expect(defectsOfClass(core, team, name).map(({ date }) => date)).toEqual(["2026-11-20", "2026-11-13"]);
  expect(defectsOfClass(core, team, name, { repoKey: "elsewhere" })).toEqual([]);
  for (const none of ["", name.slice(1), `${name}00`, name.toUpperCase().replace(/\d/g, "G"), "%"])
    expect([none, defectsOfClass(core, team, none)]).toEqual([none, []]);
  t.instance.core.store.db
    .prepare("UPDATE defects SET fingerprint = ? WHERE date < '2026-06'")
    .run(Buffer.alloc(32, 255));
  expect(defectsOfClass(core, team, "ffffffff").map(({ title }) => title)).toEqual(["Bare"]);
});

it("counts all entries of a class and names the neighbours of each, though only some are listed", async () => {
  const day = (i: number) => new Date(Date.UTC(2026, 10, 20 - (i % 97))).toISOString().slice(0, 10);
  const entry = (i: number) =>
    `## ${day(i)} Broke ${i}\n\n${i % 3 === 0 ? "**Status:** open\n\n" : ""}**Prevention rule:** ${i % 10 === 0 ? "another" : "the same"}\n`;
  const { core, team } = await published(Array.from({ length: 1_400 }, (_, i) => entry(i)).join("\n"));
  const all = listDefects(core, team).filter(({ rule }) => rule === "the same");
  const name = onWire(all[0]?.fingerprint as Buffer);
  expect(all).toHaveLength(1_260);
  expect(defectsOfClass(core, team, name)).toEqual(all.slice(0, 1_000));
  expect(defectsOfClass(core, team, name, { most: 3 })).toEqual(all.slice(0, 3));
  const open = all.filter((one) => one.open).length;
  expect(wholeClass.sums(core, team, name)).toMatchObject({ occurrences: 1_260, open, repos: [{ repoKey: "shop" }] });
  expect(wholeClass.days(core, team, name).sort()).toEqual(all.map(({ date }) => date).sort());
  const besides = all.map((one) => wholeClass.beside(core, team, one));
  expect(besides).toEqual(all.map((_, i) => ({ older: all[i + 1]?.id, newer: all[i - 1]?.id })));
  const alone = { ...(all[0] as Defect), fingerprint: Buffer.alloc(32, 1) };
  expect(wholeClass.beside(core, team, alone)).toEqual({ older: undefined, newer: undefined });
  expect(wholeClass.sums(core, team, "none")).toEqual({ occurrences: 0, open: 0, repos: [] });
});

it("finds the newest entries that hold a text, as many as asked for, however far back they are", async () => {
  const day = (i: number) => new Date(Date.UTC(2026, 10, 21 - (i % 300))).toISOString().slice(0, 10);
  const entries = Array.from(
    { length: 4_900 },
    (_, i) => `## ${day(i)} N${i} ${i % 300 > 297 ? "far" : "near"} 100%\n`,
  );
  const { core, team } = await published(entries.join("\n"));
  const found = async (text: string, most = 50) =>
    (await newestWith(core, team, text, most)).map(({ date, title }) => `${date} ${title}`);
  expect(await found("near", 3)).toEqual([
    "2026-11-21 N0 near 100%",
    "2026-11-21 N300 near 100%",
    "2026-11-21 N600 near 100%",
  ]);
  expect(await found("FAR")).toHaveLength(32);
  expect((await found("far", 2)).every((one) => one.startsWith(day(298)))).toBe(true);
  expect(await found("n4899")).toEqual([`${day(4899)} N4899 near 100%`]);
  expect(await found("1_0%")).toEqual([]);
  expect(await found("", 5)).toEqual(await found("near", 5));
});

it("lists the entries of a day in the order of their files, however often these were changed", async () => {
  const { t, core, team, token } = await published("## 2026-11-20 C\n\n## 2026-11-20 D\n");
  const put = async (version: number, files: Record<string, string>) => {
    const json = {
      repoKey: "shop",
      version,
      files: Object.entries(files).map(([path, content]) => ({ path, content })),
    };
    expect((await t.post("/api/brain/ingest", { token, json })).status).toBe(200);
    await t.instance.settle();
  };
  const titled = (...titles: string[]) => titles.map((title) => `## 2026-11-20 ${title}\n`).join("\n");
  const errors = ".claude/brain/errors.md";
  await put(2, { [errors]: titled("A", "B", "C", "D"), "security.md": `${titled("Z")}## 2026-11-21 New\n` });
  const read = async () => (await newestWith(core, team, "", 50)).map(({ title }) => title);
  expect(await read()).toEqual(["New", "A", "B", "C", "D", "Z"]);
  expect(listDefects(core, team).map(({ title }) => title)).toEqual(await read());
  await put(3, { [errors]: titled("B", "C", "D"), "security.md": `${titled("Z")}## 2026-11-21 New\n` });
  expect(await read()).toEqual(["New", "B", "C", "D", "Z"]);
});

it("finds a text in any case without treating any character as a wildcard, however the entries were indexed", async () => {
  const { t, token, team } = await startWithDevice();
  const publish = (version: number, contents: readonly string[]) => {
    const files = contents.map((content, i) => ({ path: `f${i}/errors.md`, content }));
    return t.post("/api/brain/ingest", { token, json: { repoKey: "shop", version, files } });
  };
  const found = async (text: string) =>
    (await newestWith(t.instance.core, team.id, text, 50)).map(({ title }) => title);
  await publish(1, ["## 2026-11-20 Half of 100%_of it\n\n**Prevention rule:** Ask FIRST, then look.\n"]);
  await t.instance.settle();
  for (const text of ["100%_OF", "ask first, then", "F0/errors.md", " of 100%_ "])
    expect([text, (await found(text)).length]).toEqual([text, 1]);
  for (const text of ["100__of", "half%it", "ask first, then turn"])
    expect([text, await found(text)]).toEqual([text, []]);

  const alike = "a".repeat(900);
  const entry = (i: number) => `## 2026-11-20 ${i} ${alike}\n\n**Prevention rule:** ${i} ${alike}\n`;
  await publish(2, Array<string>(7).fill(Array.from({ length: 500 }, (_, i) => entry(i)).join("\n")));
  await t.instance.settle();
  expect(await found(`${"a".repeat(190)}b`)).toEqual([]);
});
