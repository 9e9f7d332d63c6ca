import { expect, it } from "vitest";
import { defectsOfClass, entryText, listDefects, newestWith, onWire } from "../../../src/insight/defects/defects.ts";
import { startInstance } from "../../support/instance.ts";

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
  const t = await startInstance();
  const { core } = t.instance;
  const device = await t.device();
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

it("gathers a class by the beginning of its fingerprint, and nothing for what is none", async () => {
  const { t, core, team } = await published();
  const [first] = listDefects(core, team);
  const name = onWire(first?.fingerprint as Buffer);
  expect(defectsOfClass(core, team, name).map(({ date }) => date)).toEqual(["2026-11-20", "2026-11-13"]);
  expect(defectsOfClass(core, team, name, "elsewhere")).toEqual([]);
  for (const none of ["", name.slice(1), `${name}00`, name.toUpperCase().replace(/\d/g, "G"), "%"])
    expect([none, defectsOfClass(core, team, none)]).toEqual([none, []]);
  t.instance.core.store.db
    .prepare("UPDATE defects SET fingerprint = ? WHERE date < '2026-06'")
    .run(Buffer.alloc(32, 255));
  expect(defectsOfClass(core, team, "ffffffff").map(({ title }) => title)).toEqual(["Bare"]);
});

it("finds the newest entries with a text, as many as asked for, however far back they are", async () => {
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

it("finds a text in any case, with nothing in it that stands for others, however the entries were made for it", async () => {
  const t = await startInstance();
  const { token, team } = await t.device();
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
