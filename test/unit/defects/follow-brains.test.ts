import { expect, it } from "vitest";
import { entriesDerivation, listDefects } from "../../../src/defects/defects.ts";
import { catchUp, isBehind } from "../../../src/derive/derive.ts";
import { startInstance, type TestDevice, type TestInstance } from "../../support/instance.ts";

const publish = (
  t: TestInstance,
  { token }: TestDevice,
  repoKey: string,
  version: number,
  files: Record<string, string>,
) =>
  t.post("/api/brain/ingest", {
    token,
    json: { repoKey, version, files: Object.entries(files).map(([path, content]) => ({ path, content })) },
  });

const ERRORS = ".claude/brain/errors.md";
const follow = (t: TestInstance) => catchUp(t.instance.core, entriesDerivation);
const list = (t: TestInstance, { team }: TestDevice) => listDefects(t.instance.core, team.id);

it("takes the entries of current errors, security and anti-patterns files, and of no others", async () => {
  const t = await startInstance();
  const device = await t.device();
  const entry = (title: string) => `## 2026-11-20 ${title}\n`;
  await publish(t, device, "a", 1, {
    [ERRORS]: "## 2026-11-20 – Login loop\n\nSince abc1234, in `src/a.ts:12`.\n\n**Prevention rule:** Set Path.\n",
    "docs/security.md": entry("Open port"),
    "ANTI-PATTERNS.md": entry("Sleeping in tests"),
    "decisions.md": entry("Use SQLite"),
    "errors/notes.md": entry("No entry"),
    "errors.txt": entry("No markdown"),
  });
  await follow(t);
  expect(list(t, device)).toEqual([
    expect.objectContaining({ path: ERRORS, kind: "error", date: "2026-11-20", title: "Login loop", line: 1 }),
    expect.objectContaining({ path: "ANTI-PATTERNS.md", kind: "anti-pattern", title: "Sleeping in tests" }),
    expect.objectContaining({ path: "docs/security.md", kind: "security", title: "Open port", repoKey: "a" }),
  ]);
  expect(list(t, device).find(({ path }) => path === ERRORS)).toMatchObject({
    ...{ heading: "2026-11-20 – Login loop", ordinal: 0, open: false, rule: "Set Path." },
    ...{ commits: ["abc1234"], files: ["src/a.ts"] },
  });
  expect(await isBehind(t.instance.core, entriesDerivation)).toBe(false);
});

it("leaves the rows alone that a new version did not change, whichever line they moved to", async () => {
  const t = await startInstance();
  const device = await t.device();
  const body = "## 2026-11-18 Kept\n\n## 2026-11-17 Solved\nStatus: open\n\n## 2026-11-16 Removed\n";
  await publish(t, device, "a", 1, { [ERRORS]: body });
  await follow(t);
  const before = new Map(list(t, device).map(({ title, id }) => [title, id]));
  await publish(t, device, "a", 2, {
    [ERRORS]: `## 2026-11-19 New\n\n${body.replace("open", "resolved").replace(/## 2026-11-16.*\n/, "")}`,
  });
  await follow(t);
  const after = list(t, device);
  expect(after.map(({ title, line, open }) => [title, line, open])).toEqual([
    ["New", 1, false],
    ["Kept", 3, false],
    ["Solved", 5, false],
  ]);
  expect(after.slice(1).map(({ title, id }) => before.get(title) === id)).toEqual([true, true]);
});

it("numbers equal headings from the oldest, so that a new one on top takes nobody's number", async () => {
  const t = await startInstance();
  const device = await t.device();
  await publish(t, device, "a", 1, { [ERRORS]: "## 2026-11-20 Login\n\nthe old one abc1234\n" });
  await follow(t);
  const [old] = list(t, device);
  await publish(t, device, "a", 2, {
    [ERRORS]: "## 2026-11-20 Login\n\nthe new one abc1235\n\n## 2026-11-20 Login\n\nthe old one abc1234\n",
  });
  await follow(t);
  expect(list(t, device).map(({ ordinal, commits, id }) => [ordinal, commits[0], id === old?.id])).toEqual([
    [1, "abc1235", false],
    [0, "abc1234", true],
  ]);
});

it("forgets what is no longer in the brain: a file, an entry that became another kind's", async () => {
  const t = await startInstance();
  const device = await t.device();
  await publish(t, device, "a", 1, { "errors.md": "## 2026-11-20 A\n", "security.md": "## 2026-11-20 B\n" });
  await follow(t);
  await publish(t, device, "a", 2, { "errors.md": "## 2026-11-20 A\n" });
  await follow(t);
  expect(list(t, device).map(({ title }) => title)).toEqual(["A"]);
  expect(t.count("defect_files")).toBe(1);
  await publish(t, device, "a", 3, {});
  await follow(t);
  expect([t.count("defects"), t.count("defect_files")]).toEqual([0, 0]);
});

it("shows a team its own entries only, and those of the repository, day and kinds asked for", async () => {
  const t = await startInstance();
  const [mine, other] = [await t.device(), await t.device()];
  await publish(t, mine, "a", 1, { "errors.md": "## 2026-11-20 New\n## 2026-11-01 Old\n" });
  await publish(t, mine, "b", 1, { "security.md": "## 2026-11-20 B\n" });
  await publish(t, other, "a", 1, { "errors.md": "## 2026-11-20 Canary\n" });
  await follow(t);
  const titles = (filter: Parameters<typeof listDefects>[2]) =>
    listDefects(t.instance.core, mine.team.id, filter).map(({ title }) => title);
  expect(titles({})).toEqual(["New", "B", "Old"]);
  expect(titles({ repoKey: "a" })).toEqual(["New", "Old"]);
  expect(titles({ fromDate: "2026-11-20" })).toEqual(["New", "B"]);
  expect(titles({ kinds: ["security"] })).toEqual(["B"]);
  expect(titles({ repoKey: "a", kinds: ["security"] })).toEqual([]);
  expect(titles({ repoKey: "unknown" })).toEqual([]);
});

it("stores a file of thousands of entries piece by piece, and can be filled again from nothing", async () => {
  const t = await startInstance();
  const device = await t.device();
  const many = Array.from({ length: 1_100 }, (_, i) => `## 2026-11-20 Entry ${i}\n`).join("\n");
  await publish(t, device, "a", 1, { "errors.md": many });
  const pieces: number[] = [];
  const { write } = t.instance.core.store;
  const piece = await entriesDerivation.next(t.instance.core, 0);
  await write.call(t.instance.core.store, () => piece?.apply());
  pieces.push(t.count("defects"));
  expect(pieces).toEqual([250]);
  await follow(t);
  expect(t.count("defects")).toBe(1_100);
  const before = list(t, device).map(({ title, line }) => [title, line]);
  t.instance.core.store.db.exec("DELETE FROM defects; DELETE FROM defect_files; DELETE FROM derivations;");
  await follow(t);
  expect(list(t, device).map(({ title, line }) => [title, line])).toEqual(before);
});

it("follows a return to earlier content", async () => {
  const t = await startInstance();
  const device = await t.device();
  for (const [i, title] of ["One", "Two", "One"].entries()) {
    await publish(t, device, "a", i + 1, { "errors.md": `## 2026-11-20 ${title}\n` });
    await follow(t);
    expect(list(t, device).map((defect) => defect.title)).toEqual([title]);
  }
});
