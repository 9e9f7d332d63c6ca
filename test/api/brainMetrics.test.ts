import { expect, it } from "vitest";
import { DAY_MS } from "../../src/kit/clock.ts";
import { startInstance, startWithDevice, type TestInstance } from "../support/instance.ts";
import { publish as publishFiles } from "../support/reads.ts";

/** The test clock stands at 2026-11-21 08:00 UTC. */
const ERRORS = ".claude/brain/errors.md";

const publish = (t: TestInstance, token: string, repoKey: string, errors: string, others = {}, version = 1) =>
  publishFiles(t, { token }, { [ERRORS]: errors, ...others }, { repoKey, version });

const ask = async (t: TestInstance, token: string, query = "") =>
  (await t.get(`/api/brain/metrics${query}`, { token })).body;

const dated = (...days: string[]) => days.map((day, i) => `## ${day} Entry ${i}\n`).join("\n");

it("counts zero where there are no entries, also for an unknown repository", async () => {
  const { t, token } = await startWithDevice();
  const nothing = {
    ...{ ok: true, repoKey: null, trend: "flat", priorMean: 0, total: 0, skipped: 0, openTotal: 0 },
    ...{ open: [], recurringClasses: [] },
    weeks: [
      { start: "2026-10-25", end: "2026-10-31", count: 0 },
      { start: "2026-11-01", end: "2026-11-07", count: 0 },
      { start: "2026-11-08", end: "2026-11-14", count: 0 },
      { start: "2026-11-15", end: "2026-11-21", count: 0 },
    ],
  };
  expect(await ask(t, token)).toEqual(nothing);
  expect(await ask(t, token, "?repoKey=unknown")).toEqual({ ...nothing, repoKey: "unknown" });
});

it("counts the entries of four rolling weeks to the day, whatever their order", async () => {
  const { t, token } = await startWithDevice();
  const days = ["2026-11-21", "2026-10-25", "2026-11-15", "2026-11-14", "2026-11-08", "2026-11-07", "2026-10-24"];
  await publish(t, token, "a", `${dated(...days)}\n## Not dated\n`);
  const body = await ask(t, token);
  expect(body.weeks.map(({ count }: { count: number }) => count)).toEqual([1, 1, 2, 2]);
  expect(body).toMatchObject({ trend: "up", priorMean: 4 / 3, total: 7, skipped: 1 });
});

it("does not count headings of security and anti-patterns files as errors, dated or not", async () => {
  const { t, token } = await startWithDevice();
  const other = "## 2026-11-20 Dated\n\n## Not dated\n";
  const others = { ".claude/brain/security.md": other, ".claude/brain/anti-patterns.md": other };
  await publish(t, token, "a", `${dated("2026-11-19")}\n## Not dated\n`, others);
  for (const query of ["", "?repoKey=a"]) expect(await ask(t, token, query)).toMatchObject({ total: 1, skipped: 1 });
});

it.each([
  ["up", ["2026-11-20", "2026-11-19", "2026-11-10", "2026-11-03", "2026-10-27"]],
  ["flat", ["2026-11-20", "2026-11-10", "2026-11-03", "2026-10-27"]],
  ["down", ["2026-11-10"]],
  ["up", ["2026-11-20", "2026-11-10", "2026-11-10"]],
])("calls the trend %s for entries of %j", async (trend, days) => {
  const { t, token } = await startWithDevice();
  await publish(t, token, "a", dated(...days));
  expect((await ask(t, token)).trend).toBe(trend);
});

it("rolls with the clock", async () => {
  const { t, token } = await startWithDevice();
  await publish(t, token, "a", dated("2026-11-20", "2026-11-19"));
  const counts = async () => (await ask(t, token)).weeks.map(({ count }: { count: number }) => count);
  expect(await counts()).toEqual([0, 0, 0, 2]);
  t.clock.advance(5 * DAY_MS);
  expect(await counts()).toEqual([0, 0, 1, 1]);
  t.clock.advance(28 * DAY_MS);
  expect(await counts()).toEqual([0, 0, 0, 0]);
  expect((await ask(t, token)).total).toBe(2);
});

it("counts entries dated tomorrow, which it already is somewhere, and none later", async () => {
  const { t, token } = await startWithDevice();
  await publish(t, token, "a", dated("2026-11-22", "2026-11-23", "2027-01-01"));
  const thisWeek = async () => (await ask(t, token)).weeks[3].count;
  expect(await thisWeek()).toBe(0);
  t.clock.advance(2 * 60 * 60_000);
  expect(await thisWeek()).toBe(1);
  expect((await ask(t, token)).total).toBe(3);
});

it("shows the newest three open entries and where they stand", async () => {
  const { t, token } = await startWithDevice();
  const open = (day: string) => `## ⏳ ${day} – **Open** of ${day}\n\n`;
  await publish(
    t,
    token,
    "a",
    `## 2026-11-21 Solved\n\nStatus: resolved\n\n${["2026-11-18", "2026-11-20", "2026-11-17", "2026-11-19"].map(open).join("")}`,
  );
  const body = await ask(t, token);
  expect(body.openTotal).toBe(4);
  expect(body.open).toEqual([
    { date: "2026-11-20", title: "Open of 2026-11-20", line: 7, filePath: ERRORS, repoKey: "a" },
    { date: "2026-11-19", title: "Open of 2026-11-19", line: 11, filePath: ERRORS, repoKey: "a" },
    { date: "2026-11-18", title: "Open of 2026-11-18", line: 5, filePath: ERRORS, repoKey: "a" },
  ]);
});

it("finds classes that recur by their rule, or by their title where there is none, without a window of time", async () => {
  const { t, token } = await startWithDevice();
  const entry = (day: string, title: string, rule?: string) =>
    `## ${day} ${title}\n\n${rule === undefined ? "" : `**Prevention rule:** ${rule}\n\n`}`;
  await publish(
    t,
    token,
    "a",
    [
      entry("2026-11-20", "Login loop", "Set `Path` on every cookie!"),
      entry("2026-11-19", "Slow build"),
      entry("2026-11-18", "Cart lost", "set path\non every cookie."),
      entry("2026-11-01", "SLOW – build"),
      entry("2026-10-01", "Once", "Only once."),
      entry("2024-01-01", "Logged out", "Set Path on every cookie"),
      entry("2023-01-01", "Oldest", "set path on every cookie"),
    ].join(""),
  );
  const { recurringClasses } = await ask(t, token);
  expect(recurringClasses).toEqual([
    {
      fingerprint: expect.stringMatching(/^[0-9a-f]{8}$/),
      ...{ occurrences: 4, firstSeen: "2023-01-01", lastSeen: "2026-11-20" },
      titles: ["Login loop", "Cart lost", "Logged out"],
      rule: "Set `Path` on every cookie!",
    },
    {
      fingerprint: expect.stringMatching(/^[0-9a-f]{8}$/),
      ...{ occurrences: 2, firstSeen: "2026-11-01", lastSeen: "2026-11-19", titles: ["Slow build", "SLOW – build"] },
      rule: null,
    },
  ]);
});

it("finds classes across a team's repositories, and of one alone when asked", async () => {
  const { t, token } = await startWithDevice();
  await publish(t, token, "a", "## 2026-11-20 Login loop\n");
  await publish(t, token, "b", "## 2026-11-19 Login loop\n");
  expect(await ask(t, token)).toMatchObject({ total: 2, recurringClasses: [{ occurrences: 2 }] });
  expect(await ask(t, token, "?repoKey=b")).toMatchObject({ repoKey: "b", total: 1, recurringClasses: [] });
});

it("counts errors only, of current brains only, of one's own team only", async () => {
  const t = await startInstance();
  const [mine, other] = [await t.device(), await t.device()];
  await publish(t, mine.token, "a", dated("2026-11-20", "2026-11-20"));
  await publish(t, mine.token, "a", dated("2026-11-20"), { "security.md": dated("2026-11-20") }, 2);
  await publish(t, other.token, "a", "## ⏳ 2026-11-20 Canary\n\n## 2026-11-20 Canary\n");
  const answer = await t.get("/api/brain/metrics?repoKey=a", { token: mine.token });
  expect(answer.body.total).toBe(1);
  expect(answer.text).not.toContain("Canary");
});

it("finds a repository by a key that holds a secret, and does not repeat the secret", async () => {
  const { t, token } = await startWithDevice();
  const repoKey = "https://user:hunter2secret@git.example.com/a";
  await publish(t, token, repoKey, dated("2026-11-20"));
  const answer = await t.get(`/api/brain/metrics?repoKey=${encodeURIComponent(repoKey)}`, { token });
  expect(answer.body.total).toBe(1);
  expect(answer.text).not.toContain("hunter2secret");
});

it.each(["", `?repoKey=${"a".repeat(513)}`, "?repoKey=a%00b"])(
  "refuses an empty, long or broken key: %j",
  async (query) => {
    const { t, token } = await startWithDevice();
    const answer = await t.get(`/api/brain/metrics${query === "" ? "?repoKey=" : query}`, { token });
    expect(answer.status).toBe(400);
    expect(answer.body.error).toContain("repoKey");
  },
);

it("answers with the figures it has while nothing can be stored", async () => {
  const { t, token } = await startWithDevice();
  await publish(t, token, "a", dated("2026-11-20"));
  await ask(t, token);
  await publish(t, token, "a", dated("2026-11-20", "2026-11-19"), {}, 2);
  t.instance.core.store.db.pragma("query_only = 1");
  const answer = await t.get("/api/brain/metrics", { token });
  t.instance.core.store.db.pragma("query_only = 0");
  expect([answer.status, answer.body.total]).toEqual([200, 1]);
  expect((await ask(t, token)).total).toBe(2);
});
