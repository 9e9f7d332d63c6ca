import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import MarkdownIt from "markdown-it";
import { expect, it, onTestFinished, vi } from "vitest";
import type { Core } from "../../../src/core.ts";
import { type Defect, entriesProjection, listDefects } from "../../../src/insight/defects/defects.ts";
import { act, standingOfEntry } from "../../../src/insight/triage/triage.ts";
import type { Actor } from "../../../src/platform/audit/audit.ts";
import { areCaughtUp, catchUp, failures } from "../../../src/platform/projections/projections.ts";
import { openStore } from "../../../src/platform/store/store.ts";
import { newFolder } from "../../support/folder.ts";
import { startInstance, startWithDevice, type TestDevice, type TestInstance } from "../../support/instance.ts";
import { git } from "../../support/work-tree.ts";

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
const follow = (t: TestInstance) => catchUp(t.instance.core, entriesProjection);
const list = (t: TestInstance, { team }: TestDevice) => listDefects(t.instance.core, team.id);

it("takes the entries of current errors, security and anti-patterns files, and of no others", async () => {
  const { t, device } = await startWithDevice();
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
  expect(areCaughtUp(t.instance.core, [entriesProjection])).toBe(true);
});

it("leaves the rows alone that a new version did not change, whichever line they moved to", async () => {
  const { t, device } = await startWithDevice();
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

it("updates what an entry names when only that has changed", async () => {
  const { t, device } = await startWithDevice();
  const body = "## 2026-11-18 Mended\n\nin abc1234\n\n## 2026-11-17 Moved\n\nin src/a.ts\n";
  await publish(t, device, "a", 1, { [ERRORS]: body });
  await follow(t);
  await publish(t, device, "a", 2, { [ERRORS]: body.replace("abc1234", "abc1235").replace("a.ts", "b.ts") });
  await follow(t);
  expect(t.rows("SELECT commits, files FROM defects ORDER BY id")).toEqual([
    { commits: '["abc1235"]', files: "[]" },
    { commits: "[]", files: '["src/b.ts"]' },
  ]);
});

it("numbers equal headings from the oldest, so that a new one on top does not take another's number", async () => {
  const { t, device } = await startWithDevice();
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

const numbers = (t: TestInstance, device: TestDevice) =>
  Object.fromEntries(list(t, device).map(({ id, rule, title }) => [rule ?? title, id]));

it.each(["## 2026-11-20", "## 2026-11-20 Login"])(
  "lets an entry under %j keep its number wherever it goes",
  async (h) => {
    const { t, device } = await startWithDevice();
    let version = 0;
    const put = async (rules: string, path = ERRORS) => {
      const body = [...rules].map((rule) => `${h}\n\n**Prevention rule:** ${rule}\n`).join("\n");
      await publish(t, device, "a", ++version, { [path]: body });
      await follow(t);
      return numbers(t, device);
    };
    const first = await put("abc");
    expect(await put("abcd")).toMatchObject(first);
    expect(await put("eabcd")).toMatchObject(first);
    expect(await put("dcbae")).toMatchObject(first);
    const { a, ...others } = first;
    expect(await put("dcbe")).toMatchObject(others);
    expect(await put("bcef")).toMatchObject({ b: first.b, c: first.c });
    expect((await put("abcef")).a).not.toBe(a);
    const before = await put("bc");
    expect(await put("cb", "docs/errors.md")).toEqual(before);
    const ordinals = t.rows("SELECT rule, ordinal FROM defects ORDER BY line");
    expect(ordinals).toEqual([
      { rule: "c", ordinal: 1 },
      { rule: "b", ordinal: 0 },
    ]);
  },
);

it("knows an entry by its text where it has neither rule nor title", async () => {
  const { t, device } = await startWithDevice();
  const put = async (version: number, words: readonly string[]) => {
    const body = words.map((word) => `## 2026-11-20\n\n${word} abc123${word.length}\n`).join("\n");
    await publish(t, device, "a", version, { [ERRORS]: body });
    await follow(t);
    return Object.fromEntries(list(t, device).map(({ id, commits }) => [commits[0], id]));
  };
  const first = await put(1, ["a", "bb"]);
  expect(await put(2, ["a", "bb", "ccc"])).toMatchObject(first);
  expect(await put(3, ["bb", "ccc"])).toMatchObject({ abc1232: first.abc1232 });
});

it("never gives a number again, so that a page's address means one entry or none", async () => {
  const { t, device } = await startWithDevice();
  const seen = new Set<number>();
  for (const [i, title] of ["One", "Two", "Three"].entries()) {
    await publish(t, device, "a", i + 1, { [ERRORS]: `## 2026-11-20 ${title}\n\n**Prevention rule:** ${title}\n` });
    await publish(t, device, "b", i + 1, { [ERRORS]: i === 1 ? "" : `## 2026-11-19 ${title}\n` });
    await follow(t);
    const found = list(t, device).map(({ id }) => id);
    expect(found.filter((id) => seen.has(id))).toEqual([]);
    for (const id of found) seen.add(id);
  }
});

it("gives an entry that comes back its number, with what was said of it, and reports it once", async () => {
  const { t, device: one } = await startWithDevice({ settings: { outbound: "hooks.example.com" } });
  const other = await t.device(one.team);
  const { core } = t.instance;
  const entry = (title: string, rule = "Set Path.") => `## 2026-11-20 ${title}\n\n**Prevention rule:** ${rule}\n\n`;
  const [both, theirs] = [
    entry("Login loop") + entry("Cart lost") + entry("Cart lost"),
    entry("Totals", "Round once."),
  ];
  await publish(t, one, "a", 1, { [ERRORS]: theirs + both });
  await follow(t);
  const before = list(t, one);
  const login = before.find(({ title }) => title === "Login loop") as Defect;
  const by: Actor = { kind: "command", id: null, label: "command line", ip: null };
  const subject = {
    teamId: one.team.id,
    fingerprint: login.fingerprint.toString("hex").slice(0, 8),
    entryId: login.id,
  };
  await act(core, subject, { kind: "resolve" }, by);
  const told = () =>
    t.rows("SELECT data ->> 'title' AS title FROM notices WHERE type LIKE 'defect.%'").map(({ title }) => title);
  expect(told().toSorted()).toEqual(["Cart lost", "Cart lost", "Login loop", "Totals"]);
  // The brain of a machine on another branch, then of one that has all entries, some of them in another place.
  for (const [i, device] of [other, one, other, one].entries()) {
    await publish(t, device, "a", i + 2, { [ERRORS]: device === one ? both + theirs : theirs });
    await follow(t);
  }
  const idsOf = (entries: readonly Defect[]) => entries.map(({ title, ordinal, id }) => [title, ordinal, id]).sort();
  expect(idsOf(list(t, one))).toEqual(idsOf(before));
  expect(standingOfEntry(core, one.team.id, subject.fingerprint, login)).toMatchObject({
    state: "resolved",
    isWord: true,
  });
  expect(told()).toHaveLength(4);
  expect(t.count("defects_gone")).toBe(0);
});

it("reads one side of what a merge left unresolved, and the other once it is resolved", async () => {
  const { t, device } = await startWithDevice({ settings: { outbound: "hooks.example.com" } });
  const repo = newFolder();
  const put = (content: string) => writeFileSync(join(repo, "errors.md"), content);
  const author = ["-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "merge.conflictStyle=diff3"];
  const commit = () => git(repo, ...author, "commit", "-qam", "one");
  let version = 0;
  const read = async () => {
    await publish(t, device, "a", ++version, { [ERRORS]: readFileSync(join(repo, "errors.md"), "utf8") });
    await follow(t);
    return list(t, device).map(({ id, title, rule, line }) => ({ id, title, rule, line }));
  };
  const entry = (title: string, more = "") =>
    `## 2026-11-20 ${title}\n\nIt broke.\n${more}\n**Prevention rule:** Look twice.\n`;
  git(repo, "init", "-q", "-b", "main");
  put(`# Errors\n\n${entry("Old")}`);
  git(repo, "add", ".");
  commit();
  git(repo, "checkout", "-q", "-b", "feature");
  put(`# Errors\n\n${entry("Theirs")}\n${entry("Old", "Badly.\n")}\nMore.\n`);
  commit();
  git(repo, "checkout", "-q", "main");
  put(`# Errors\n\n${entry("Ours")}\n${entry("Old")}\nFixed.\n`);
  commit();
  const before = await read();
  expect(before.map(({ title, rule }) => [title, rule])).toEqual(
    ["Ours", "Old"].map((title) => [title, "Look twice."]),
  );
  expect(() => git(repo, ...author, "merge", "-q", "feature")).toThrow();
  expect(readFileSync(join(repo, "errors.md"), "utf8")).toMatch(/^<{7} .*^\|{7} .*^={7}$.*^>{7} /ms);
  const told = t.count("notices");
  const anyLine = (entries: typeof before) => entries.map((one) => ({ ...one, line: 0 }));
  expect(anyLine(await read())).toEqual(anyLine(before));
  expect(t.count("notices")).toBe(told);
  put(`# Errors\n\n${entry("Theirs")}\n${entry("Ours")}\n${entry("Old", "Badly.\n")}`);
  expect(anyLine(await read())).toEqual(expect.arrayContaining(anyLine(before)));
  expect(t.count("notices")).toBe(told + 1);
});

it("stores a file whose thousand equal headings all change places, piece by piece", async () => {
  const { t, device } = await startWithDevice();
  const body = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, i) => `## 2026-11-20\n\n**Prevention rule:** r${from + i}\n`).join("\n");
  await publish(t, device, "a", 1, { [ERRORS]: body(0, 1_000) });
  await follow(t);
  const before = numbers(t, device);
  await publish(t, device, "a", 2, { [ERRORS]: body(3, 1_010) });
  await follow(t);
  const after = numbers(t, device);
  expect(Object.keys(after)).toHaveLength(1_007);
  expect(Object.entries(after).filter(([rule, id]) => before[rule] !== id)).toHaveLength(10);
  expect(list(t, device).map(({ ordinal }) => ordinal)).toEqual(Array.from({ length: 1_007 }, (_, i) => 1_006 - i));
});

it("forgets what is no longer in the brain: a file, an entry that became another kind's", async () => {
  const { t, device } = await startWithDevice();
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
  const { t, device } = await startWithDevice();
  const many = Array.from({ length: 1_100 }, (_, i) => `## 2026-11-20 Entry ${i}\n`).join("\n");
  await publish(t, device, "a", 1, { "errors.md": many });
  // An instance follows its deliveries by itself. Here it is closed, and the test stores the parts one by one.
  await t.close();
  const store = openStore(t.directory, { create: false, now: t.clock.now });
  onTestFinished(() => store.close());
  const core: Core = { ...t.instance.core, store, state: new Map() };
  const forget = () => store.db.exec("DELETE FROM defects; DELETE FROM defect_files; DELETE FROM projections;");
  const found = () => listDefects(core, device.team.id).map(({ title, line }) => [title, line]);
  forget();
  const batch = await entriesProjection.next(core, 0, false);
  const parts: number[] = [];
  for await (const part of batch?.before ?? []) {
    await store.write(part);
    parts.push(found().length);
    if (parts.length === 2) break;
  }
  expect(parts).toEqual([250, 500]);
  await catchUp(core, entriesProjection);
  const before = found();
  expect(before).toHaveLength(1_100);
  forget();
  expect(found()).toEqual([]);
  await catchUp(core, entriesProjection);
  expect(found()).toEqual(before);
});

it("is filled by two processes at once as by one", async () => {
  const { t, device } = await startWithDevice();
  const store = openStore(t.directory, { create: false, now: t.clock.now });
  onTestFinished(() => store.close());
  const { core } = t.instance;
  for (const [i, count] of [1_100, 900].entries()) {
    const entries = Array.from({ length: count }, (_, n) => `## 2026-11-20\n\n**Prevention rule:** r${n}\n`);
    await publish(t, device, "a", i + 1, { "errors.md": entries.join("\n") });
    await Promise.all([catchUp(core, entriesProjection), catchUp({ ...core, store }, entriesProjection)]);
    expect([t.count("defects"), failures(core)]).toEqual([count, []]);
  }
});

it("follows a return to earlier content", async () => {
  const { t, device } = await startWithDevice();
  for (const [i, title] of ["One", "Two", "One"].entries()) {
    await publish(t, device, "a", i + 1, { "errors.md": `## 2026-11-20 ${title}\n` });
    await follow(t);
    expect(list(t, device).map((defect) => defect.title)).toEqual([title]);
  }
});

it("counts a file that cannot be parsed as skipped, says so once, and reads the others and what comes later", async () => {
  const { t, device } = await startWithDevice();
  // No text is known on which the parser fails.
  const { parse } = MarkdownIt.prototype;
  const spy = vi.spyOn(MarkdownIt.prototype, "parse").mockImplementation(function (
    this: InstanceType<typeof MarkdownIt>,
    text,
    env,
  ) {
    if (text.includes("poison")) throw new Error("cannot parse this");
    return parse.call(this, text, env);
  });
  onTestFinished(() => spy.mockRestore());
  await publish(t, device, "a", 1, {
    "errors.md": "## 2026-11-20 A\n\npoison\n",
    "security.md": "## 2026-11-20 B\n",
    "decisions.md": "## 2026-11-20 D\n\npoison\n",
  });
  await publish(t, device, "b", 1, { "errors.md": "## 2026-11-19 C\n" });
  await follow(t);
  await follow(t);
  expect(list(t, device).map(({ title }) => title)).toEqual(["B", "C"]);
  const metrics = await t.get("/api/brain/metrics?repoKey=a", { token: device.token });
  expect([metrics.status, metrics.body.total, metrics.body.skipped]).toEqual([200, 0, 1]);
  for (let i = 0; i < 2; i++)
    expect((await t.get("/api/brain/briefing?repoKey=a", { token: device.token })).status).toBe(200);
  expect(t.log.filter((line) => line.includes("entries_unreadable"))).toHaveLength(1);
  expect(t.log.filter((line) => line.includes("decisions_unreadable"))).toHaveLength(1);
  expect(failures(t.instance.core)).toEqual([
    expect.objectContaining({ name: "defects", count: 1, cause: "errors.md: cannot parse this" }),
  ]);
  await publish(t, device, "a", 2, { "errors.md": "## 2026-11-20 A\n" });
  await follow(t);
  expect(list(t, device).map(({ title }) => title)).toEqual(["A", "C"]);
});

it("counts nothing that came with an installed pack", async () => {
  const { t, token } = await startWithDevice();
  const entry = (title: string) => `## ⏳ 2026-11-20 ${title}\n\n**Prevention rule:** Set Path on every cookie.\n`;
  const theirs = `${entry("Their defect")}\n${entry("Their other")}`;
  const files = [
    { path: ".claude/brain/errors.md", content: entry("Our defect") },
    { path: ".claude/brain/packs/cookie-rules/errors.md", content: theirs },
    { path: "api/.Claude/Brain/Packs/cookie-rules/security.md", content: theirs },
    { path: ".claude/brain/packs/cookie-rules/decisions.md", content: "## 2026-11-20 Their decision\n\nx\n" },
    { path: ".claude/brain/decisions.md", content: "## 2026-11-20 Our decision\n\nx\n" },
  ];
  await t.post("/api/brain/ingest", { token, json: { repoKey: "shop", version: 1, files } });
  const metrics = (await t.get("/api/brain/metrics", { token })).body;
  expect([metrics.total, metrics.open.map((one: { title: string }) => one.title), metrics.recurringClasses]).toEqual([
    1,
    ["Our defect"],
    [],
  ]);
  const briefing = (await t.get("/api/brain/briefing", { token })).text;
  expect([briefing.includes("Our decision"), briefing.includes("Their")]).toEqual([true, false]);
  // It can still be found by search.
  const found = (await t.get("/api/brain/search?q=other", { token })).body;
  expect(found.hits[0].filePath).toContain("packs/cookie-rules");
});
