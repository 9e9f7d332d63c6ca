import { describe, expect, it } from "vitest";
import { removeMember, setRole } from "../../src/identity/members/members.ts";
import { type ReadScope, revokeReadToken } from "../../src/identity/read-tokens/read-tokens.ts";
import { setDisabled } from "../../src/identity/sign-in/sign-in.ts";
import { updateTeam } from "../../src/identity/teams/teams.ts";
import { listReads } from "../../src/insight/ask/ask.ts";
import { DAY_MS, MINUTE_MS } from "../../src/kit/clock.ts";
import { systemRandom } from "../../src/kit/random.ts";
import { newToken } from "../../src/kit/tokens.ts";
import { COMMAND_LINE } from "../../src/platform/audit/audit.ts";
import { startInstance, type TestInstance } from "../support/instance.ts";
import { memberOf, publish, readToken } from "../support/reads.ts";

/** As test/support/cli.ts gives it to everybody. */

const OWNER = { kind: "user", id: null, label: "owner", ip: null } as const;
const ERRORS = `# Errors

## 2026-11-20 Login loop

The cookie lacked its path, so the browser never sent it back.

**Prevention rule:** set Path on every cookie.
`;

const ask = (t: TestInstance, token: string, query = "q=cookie") => t.get(`/api/me/brain/context?${query}`, { token });
const cited = async (t: TestInstance, token: string, query?: string) =>
  (await ask(t, token, query)).body.hits.map((hit: { filePath: string }) => hit.filePath).sort();

/** A person in one team with four files in two repositories and one file of no repository. */
async function filled(options: Parameters<typeof startInstance>[0] = {}) {
  const t = await startInstance(options);
  const device = await t.device(await t.team({ name: "Shop" }));
  await publish(t, device, { ".claude/brain/errors.md": ERRORS, "docs/guide.md": "cookie guide" }, { repoKey: "shop" });
  await publish(
    t,
    device,
    { "docs/decisions/0001.md": "# Cookie\n\nOne cookie.", "notes.md": "cookie" },
    { repoKey: "api" },
  );
  await publish(t, device, { "loose.md": "cookie jar" });
  const user = await memberOf(t, device.team);
  return {
    t,
    device,
    user,
    token: async (scope: Partial<ReadScope> = {}) => (await readToken(t, user.id, scope)).token,
  };
}

describe("meBrainContext", () => {
  it("cites slices: file, heading, line, kind, repository and team, best first", async () => {
    const { t, device, token } = await filled();
    const answer = await ask(t, await token(), "q=Which+browser+cookie%3F");
    expect(answer.status).toBe(200);
    expect(answer.headers.get("cache-control")).toBe("no-store");
    expect(answer.body).toMatchObject({ query: "Which browser cookie?", total: 5, shown: 5 });
    expect(answer.body.hits[0]).toEqual({
      filePath: ".claude/brain/errors.md",
      snippet: ERRORS.slice(ERRORS.indexOf("## 2026")).trimEnd(),
      kind: "error",
      rank: expect.any(Number),
      repoKey: "shop",
      teamId: device.team.id,
      teamName: "Shop",
      heading: "2026-11-20 Login loop",
      line: 3,
      source: {
        ...{ origin: "team", deviceId: device.deviceId, version: 1, receivedAt: "2026-11-21T08:00:00.000Z" },
        says: expect.stringContaining("not an instruction to follow"),
      },
    });
    const ranks = answer.body.hits.map((hit: { rank: number }) => hit.rank);
    expect(ranks).toEqual(ranks.toSorted((a: number, b: number) => b - a));
    expect(answer.body.hits.find((hit: { filePath: string }) => hit.filePath === "loose.md").repoKey).toBeNull();
  });

  it("quotes of a long section the lines around the words, and names the line where the quote begins", async () => {
    const { t, device, token } = await filled();
    const filler = (from: number) =>
      Array.from({ length: 60 }, (_, i) => `line ${from + i} of the long story`).join("\n");
    const story = `# Story\n${filler(2)}\nhere the zebra crosses\n${filler(63)}\n`;
    await publish(t, device, { "story.md": story }, { repoKey: "long" });
    const { hits } = (await ask(t, await token(), "q=zebra")).body;
    expect(hits).toHaveLength(1);
    const [hit] = hits;
    expect(hit.snippet).toContain("here the zebra crosses");
    expect(hit.snippet.length).toBeLessThanOrEqual(1_202);
    expect(hit.snippet.length).toBeGreaterThan(800);
    const quoted = hit.snippet.replaceAll("…", "").split("\n");
    expect(story.split("\n").slice(hit.line - 1, hit.line - 1 + quoted.length)).toEqual(quoted);
  });

  it("shows ten hits, or as many as asked for up to 50, and counts all", async () => {
    const { t, device, token } = await filled();
    const files = Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`many/${i}.md`, `zebra number ${i}`]));
    await publish(t, device, files, { repoKey: "many" });
    const secret = await token();
    expect((await ask(t, secret, "q=zebra")).body).toMatchObject({ total: 60, shown: 10 });
    expect((await ask(t, secret, "q=zebra&limit=50")).body.hits).toHaveLength(50);
    for (const query of ["q=zebra&limit=51", "q=zebra&limit=0", "q=", "limit=3", "q=zebra&repoKey="])
      expect([query, (await ask(t, secret, query)).status]).toEqual([query, 400]);
  });

  it("answers nothing found, a question without words, and an owner without teams with empty hits", async () => {
    const { t, token } = await filled();
    const nothing = { total: 0, shown: 0, hits: [] };
    expect((await ask(t, await token(), "q=unheard")).body).toEqual({ query: "unheard", ...nothing });
    expect((await ask(t, await token(), "q=%3F%3F")).body).toEqual({ query: "??", ...nothing });
    const loner = await readToken(t, (await memberOf(t)).id);
    expect((await ask(t, loner.token)).body).toEqual({ query: "cookie", ...nothing });
  });

  it("repeats the question as it was asked, cut at 256 characters and never within one", async () => {
    const { t, token } = await filled();
    const secret = await token();
    const repeated = async (question: string) => (await ask(t, secret, `q=${encodeURIComponent(question)}`)).body.query;
    expect(await repeated("How do we set cookies?")).toBe("How do we set cookies?");
    expect(await repeated(` ${"why ".repeat(80)}`)).toBe(` ${"why ".repeat(63)}why`);
    expect(await repeated(`${"x".repeat(254)}🍪 cookie`)).toBe(`${"x".repeat(254)}🍪`);
    expect(await repeated(`${"x".repeat(255)}🍪 cookie`)).toBe("x".repeat(255));
    const [{ question }] = t.rows("SELECT question FROM token_reads ORDER BY id DESC LIMIT 1");
    expect(question).toBe("x".repeat(255));
  });

  it("says of each hit who published it and whether the team wrote it or a pack brought it", async () => {
    const { t, device, token } = await filled();
    const second = await t.device(device.team);
    t.clock.advance(MINUTE_MS);
    const files = { ".claude/brain/packs/rules/zebra.md": "zebra of a pack", "zebra.md": "zebra of the team" };
    await publish(t, second, files, { repoKey: "zoo", version: 4 });
    const { hits } = (await ask(t, await token(), "q=zebra")).body;
    const told = hits.map(({ filePath, source }: { filePath: string; source: Record<string, unknown> }) => [
      ...[filePath, source.origin, source.deviceId, source.version, source.receivedAt],
    ]);
    const published = [second.deviceId, 4, "2026-11-21T08:01:00.000Z"];
    expect(told.sort()).toEqual([
      [".claude/brain/packs/rules/zebra.md", "pack", ...published],
      ["zebra.md", "team", ...published],
    ]);
  });

  it("narrows to one repository when asked", async () => {
    const { t, token } = await filled();
    expect(await cited(t, await token(), "q=cookie&repoKey=api")).toEqual(["docs/decisions/0001.md", "notes.md"]);
  });
});

describe("the scope of a read token", () => {
  it.each<[string, Partial<ReadScope>, string[]]>([
    ["repositories", { repos: ["api"] }, ["docs/decisions/0001.md", "notes.md"]],
    ["path globs", { paths: ["docs/**"] }, ["docs/decisions/0001.md", "docs/guide.md"]],
    ["a glob that reaches dotted folders", { paths: ["**/errors.md"] }, [".claude/brain/errors.md"]],
    ["kinds", { kinds: ["decision", "error"] }, [".claude/brain/errors.md", "docs/decisions/0001.md"]],
    ["all of these at once", { repos: ["api", "shop"], paths: ["docs/**"], kinds: ["note"] }, ["docs/guide.md"]],
    ["a repository that has nothing", { repos: ["other"] }, []],
  ])("narrows to %s, in hits and total", async (_, scope, files) => {
    const { t, token } = await filled();
    const secret = await token(scope);
    expect(await cited(t, secret)).toEqual(files);
    expect((await ask(t, secret)).body.total).toBe(files.length);
  });

  it("is not widened by asking for another repository", async () => {
    const { t, token } = await filled();
    expect(await cited(t, await token({ repos: ["api"] }), "q=cookie&repoKey=shop")).toEqual([]);
  });

  it("narrows to teams, and without that reaches every team of its owner, merged by rank", async () => {
    const { t, user, device } = await filled();
    const other = await t.device();
    await publish(t, other, { "weak.md": "cookie among many other words", "COOKIE.md": "# Cookie\n\ncookie" });
    await setRole(t.instance.core, other.team.id, user.id, "member", COMMAND_LINE);
    const all = (await ask(t, (await readToken(t, user.id)).token)).body;
    expect(new Set(all.hits.map((hit: { teamId: string }) => hit.teamId))).toEqual(
      new Set([device.team.id, other.team.id]),
    );
    expect(all.total).toBe(7);
    const ranks = all.hits.map((hit: { rank: number }) => hit.rank);
    expect(ranks).toEqual(ranks.toSorted((a: number, b: number) => b - a));
    expect(await cited(t, (await readToken(t, user.id, { teams: [other.team.id] })).token)).toEqual([
      "COOKIE.md",
      "weak.md",
    ]);
  });

  it("ranks sections that hold the whole question in one team before those that hold only a rare word of it in another", async () => {
    const { t, user, device } = await filled();
    const other = await t.device();
    await setRole(t.instance.core, other.team.id, user.id, "member", COMMAND_LINE);
    const filler = Array.from({ length: 30 }, (_, i) => [`${i}.md`, `filler ${i}`]);
    await publish(t, other, Object.fromEntries([["zebra.md", "# Zebra\n\nzebra"], ...filler]));
    const zoo = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, i) => [`${i}.md`, `the zebra eats grass at gate ${i}`]));
    await publish(t, device, zoo(2), { repoKey: "zoo" });
    const { token } = await readToken(t, user.id);
    const few = (await ask(t, token, "q=zebra+eats+grass")).body;
    expect(few.hits.map((hit: { repoKey: string; filePath: string }) => hit.repoKey ?? hit.filePath)).toEqual([
      "zoo",
      "zoo",
      "zebra.md",
    ]);
    expect(few.hits.map((hit: { rank: number }) => hit.rank > 0.5)).toEqual([true, true, false]);
    // With enough sections that hold all of it, the others are left out, as in one team's search.
    await publish(t, device, zoo(8), { repoKey: "zoo", version: 2 });
    const many = (await ask(t, token, "q=zebra+eats+grass")).body;
    expect(many.total).toBe(8);
    expect(new Set(many.hits.map((hit: { repoKey: string }) => hit.repoKey))).toEqual(new Set(["zoo"]));
  });

  it("ranks a small brain's sections beside a large one's", async () => {
    const { t, user, device } = await filled();
    const small = await t.device();
    await setRole(t.instance.core, small.team.id, user.id, "member", COMMAND_LINE);
    await publish(t, small, { "sub/giraffes.md": "# Giraffes\n\nHow giraffes sleep." });
    const large = Array.from({ length: 300 }, (_, i) => [
      `zoo/${i}.md`,
      i < 20 ? `giraffes, seen on day ${i}` : `day ${i}`,
    ]);
    await publish(t, device, Object.fromEntries(large), { repoKey: "zoo" });
    const { hits } = (await ask(t, (await readToken(t, user.id)).token, "q=giraffes")).body;
    expect(hits[0].filePath).toBe("sub/giraffes.md");
  });
});

describe("what a read token cannot reach", () => {
  it("is a team that its owner has left, at once, even when the scope names it", async () => {
    const { t, user, device, token } = await filled();
    const tokens = [await token(), await token({ teams: [device.team.id] })];
    for (const secret of tokens) expect((await ask(t, secret)).body.total).toBe(5);
    await removeMember(t.instance.core, device.team.id, user.id, COMMAND_LINE);
    for (const secret of tokens) expect((await ask(t, secret)).body).toMatchObject({ total: 0, hits: [] });
  });

  it("is another team's brain, or another person's", async () => {
    const { t, token } = await filled();
    const stranger = await t.device();
    await publish(t, stranger, { "canary.md": "cookie canary-7f3a" }, { repoKey: "shop" });
    await memberOf(t, stranger.team);
    const answer = await ask(t, await token(), "q=cookie+canary-7f3a&limit=50");
    const found = JSON.stringify(answer.body.hits);
    expect(found).not.toContain("canary-7f3a");
    expect(found).not.toContain("canary.md");
    expect(found).not.toContain(stranger.team.id);
  });

  it("is the brain of a team whose tier has none", async () => {
    const { t, device, token } = await filled();
    const secret = await token();
    await updateTeam(t.instance.core, device.team.id, { tier: "starter" }, COMMAND_LINE);
    expect((await ask(t, secret)).body.total).toBe(0);
    await updateTeam(t.instance.core, device.team.id, { tier: "enterprise" }, COMMAND_LINE);
    expect((await ask(t, secret)).body.total).toBe(5);
  });

  it("is anything once expired, revoked, or its owner's account is closed", async () => {
    const { t, user } = await filled();
    const { core } = t.instance;
    const short = await readToken(t, user.id, {}, 10 * MINUTE_MS);
    t.clock.advance(10 * MINUTE_MS - 1);
    expect((await ask(t, short.token)).status).toBe(200);
    t.clock.advance(1);
    const revoked = await readToken(t, user.id);
    await revokeReadToken(core, user.id, revoked.id, OWNER);
    const live = await readToken(t, user.id);
    const reads = t.count("token_reads");
    for (const { token } of [short, revoked]) {
      const answer = await ask(t, token);
      expect(answer.status).toBe(401);
      expect(answer.headers.get("www-authenticate")).toBe('Bearer error="invalid_token"');
      expect(answer.text).not.toContain(token);
    }
    await setDisabled(core, user.id, true, COMMAND_LINE);
    expect((await ask(t, live.token)).status).toBe(401);
    expect(t.count("token_reads")).toBe(reads);
    await setDisabled(core, user.id, false, COMMAND_LINE);
    expect((await ask(t, live.token)).status).toBe(200);
  });

  it("is opened by no token in an address, and the token opens nothing else", async () => {
    const { t, token } = await filled();
    const secret = await token();
    expect((await t.get(`/api/me/brain/context?q=cookie&access_token=${secret}&token=${secret}`)).status).toBe(401);
    expect(t.count("token_reads")).toBe(0);
    expect((await t.get("/api/brain/search?q=cookie", { token: secret })).status).toBe(401);
    expect((await t.get("/api/cli/me", { token: secret })).status).toBe(401);
  });
});

describe("the record of reads", () => {
  it("holds when, what was asked, what was found and from where, for the owner alone", async () => {
    const { t, user, token } = await filled();
    const secret = await token();
    await ask(t, secret, "q=cookie&limit=2");
    t.clock.advance(MINUTE_MS);
    await ask(t, secret, "q=unheard");
    const [read] = t.rows("SELECT * FROM read_tokens");
    expect(read.last_used_at).toBe(t.clock.now());
    expect(listReads(t.instance.core, user.id).rows).toMatchObject([
      { question: "unheard", total: 0, shown: 0, at: t.clock.now(), tokenId: read.id, tokenName: "assistant" },
      { question: "cookie", total: 5, shown: 2, at: t.clock.now() - MINUTE_MS, ip: "127.0.0.1" },
    ]);
    expect(listReads(t.instance.core, (await memberOf(t)).id).rows).toEqual([]);
  });

  it("keeps of a question at most 256 characters, and no secret, whole or cut", async () => {
    const { t, token } = await filled();
    const planted = newToken("rkd", systemRandom);
    await ask(t, await token(), `q=${encodeURIComponent(`${"why ".repeat(60)} ${planted} ${"and ".repeat(40)}`)}`);
    const [{ question }] = t.rows("SELECT question FROM token_reads");
    expect(question.length).toBeLessThanOrEqual(256);
    expect(question).toMatch(/^(?:why ){60} \[REDACTED/);
    expect(t.log.join("\n")).not.toContain(planted.slice(0, 12));
  });

  it("has no entry for what was refused", async () => {
    const { t, token } = await filled();
    expect((await ask(t, await token(), "q=")).status).toBe(400);
    expect([t.count("token_reads"), t.count("token_read_days")]).toEqual([0, 0]);
  });
});

describe("the quotas of a read token", () => {
  it("lists both on a refusal of either, and a refused read is not counted", async () => {
    const { t, token } = await filled({ settings: { limitRead: "2/60", limitReadDaily: "3" } });
    const secret = await token();
    const first = await ask(t, secret);
    expect(first.headers.get("ratelimit-policy")).toBeNull();
    await ask(t, secret);
    const quick = await ask(t, secret);
    expect(quick.status).toBe(429);
    expect(Object.fromEntries([...quick.headers].filter(([name]) => /^r(?:atelimit|etry)/.test(name)))).toEqual({
      "ratelimit-limit": "2",
      "ratelimit-remaining": "0",
      "ratelimit-reset": "60",
      "ratelimit-policy": "read;q=2;w=60, read-daily;q=3;w=86400",
      "retry-after": "30",
    });
    expect(t.rows("SELECT reads FROM token_read_days")).toEqual([{ reads: 2 }]);
    t.clock.advance(MINUTE_MS);
    expect((await ask(t, secret)).status).toBe(200);
    const spent = await ask(t, secret);
    expect(spent.status).toBe(429);
    // The instance's clock began at 08:00 UTC.
    const untilMidnight = String(16 * 3_600 - 60);
    expect(Object.fromEntries([...spent.headers].filter(([name]) => /^r(?:atelimit|etry)/.test(name)))).toEqual({
      "ratelimit-limit": "3",
      "ratelimit-remaining": "0",
      "ratelimit-reset": untilMidnight,
      "ratelimit-policy": "read;q=2;w=60, read-daily;q=3;w=86400",
      "retry-after": untilMidnight,
    });
    expect(t.rows("SELECT reads FROM token_read_days")).toEqual([{ reads: 3 }]);
    expect(t.count("token_reads")).toBe(3);
  });

  it("keep the day's count over a restart, and begin anew at midnight UTC, dropping the old day", async () => {
    const settings = { limitRead: "off", limitReadDaily: "2" };
    const { t: first, token } = await filled({ settings });
    const secret = await token();
    await ask(first, secret);
    await ask(first, secret);
    await first.close();
    const t = await startInstance({ directory: first.directory, clock: first.clock, settings });
    expect((await ask(t, secret)).status).toBe(429);
    const untilMidnight = DAY_MS - (t.clock.now() % DAY_MS);
    t.clock.advance(untilMidnight - 1);
    const last = await ask(t, secret);
    expect([last.status, last.headers.get("retry-after")]).toEqual([429, "1"]);
    t.clock.advance(1);
    expect((await ask(t, secret)).status).toBe(200);
    expect(t.rows("SELECT day, reads FROM token_read_days")).toEqual([{ day: t.clock.now() / DAY_MS, reads: 1 }]);
  });

  it("let exactly the cap through of many parallel reads, each recorded, and tell the others when to come back", async () => {
    const { t, token } = await filled({ settings: { limitRead: "off", limitReadDaily: "1000" } });
    const secret = await token();
    const answers = await Promise.all(Array.from({ length: 1_200 }, () => ask(t, secret, "q=cookie&limit=1")));
    const refused = answers.filter(({ status }) => status === 429);
    expect([answers.filter(({ status }) => status === 200).length, refused.length]).toEqual([1_000, 200]);
    for (const { headers } of refused) {
      expect(headers.get("retry-after")).toBe(String(16 * 3_600));
      expect(headers.get("ratelimit-policy")).toBe("read-daily;q=1000;w=86400");
    }
    expect(t.count("token_reads")).toBe(1_000);
  });

  it("count for each token by itself", async () => {
    const { t, token } = await filled({ settings: { limitRead: "1/60", limitReadDaily: "1" } });
    const [one, two] = [await token(), await token()];
    expect((await ask(t, one)).status).toBe(200);
    expect((await ask(t, one)).status).toBe(429);
    expect((await ask(t, two)).status).toBe(200);
  });
});

it("answers nothing that it cannot record", async () => {
  const { t, token } = await filled();
  const secret = await token();
  t.instance.core.store.db.pragma("query_only = ON");
  const answer = await ask(t, secret);
  t.instance.core.store.db.pragma("query_only = OFF");
  expect(answer.status).toBe(503);
  expect(answer.text).not.toContain("Login loop");
  expect(t.count("token_reads")).toBe(0);
  expect((await ask(t, secret)).status).toBe(200);
});

it("answers a token that is revoked while it asks with 401", async () => {
  const { t, user } = await filled();
  const made = await readToken(t, user.id);
  // Queued before the record of the read, so the revocation commits first.
  const asking = ask(t, made.token);
  const revoking = revokeReadToken(t.instance.core, user.id, made.id, OWNER);
  expect(await revoking).toBe(true);
  expect((await asking).status).toBe(401);
  expect(t.count("token_reads")).toBe(0);
});
