import { describe, expect, it } from "vitest";
import { attribution, correlate, linksOfEntry, linksOfSession, listLinks } from "../../../src/insight/causes/causes.ts";
import { startInstance, startWithDevice, type TestInstance } from "../../support/instance.ts";
import { at, ERRORS, everything, follow, linked, OTHER, publish, SHA, session, trace } from "./support.ts";

const links = async (t: TestInstance, teamId: string) => (await listLinks(t.instance.core, teamId)).links;

describe("correlation", () => {
  it("puts an entry down to the session that made the commit it names, and says why", async () => {
    const { t, device } = await startWithDevice();
    await trace(t, device, [
      session("s-1", 18, {
        commits: [{ sha: SHA, at: at(18, 12, 40) }],
        prompts: [
          { at: at(18, 12), text: "Add the cart\nwith a total" },
          { at: at(18, 12, 30), text: "Now commit" },
          { at: at(18, 12, 50), text: "Thanks" },
        ],
      }),
      session("s-2", 19),
    ]);
    await publish(t, device, [`## 2026-11-20 Cart\n\nBroken since ${SHA.slice(0, 8)}.`]);
    await follow(t);
    expect(await links(t, device.team.id)).toEqual([
      expect.objectContaining({
        ...{ repoKey: "shop", path: ERRORS, heading: "2026-11-20 Cart", ordinal: 0, date: "2026-11-20" },
        ...{ band: "strong", label: "Caused by", origin: "computed", counts: true, commit: SHA, sessionId: "s-1" },
        promptExcerpt: "Now commit",
        evidence: [
          {
            kind: "commit",
            commit: SHA,
            at: at(18, 12, 40),
            says: `The entry calls commit ${SHA.slice(0, 8)} the cause; this session made it.`,
          },
          {
            kind: "time",
            startedAt: at(18, 12),
            endedAt: at(18, 13),
            says: "The session ran from 2026-11-18 12:00 to 2026-11-18 13:00 UTC.",
          },
        ],
      }),
    ]);
    expect((await links(t, device.team.id))[0]?.id).toMatch(/^lnk_/);
  });

  it("matches abbreviated commits of sessions, unless they fit several", async () => {
    const { t, device } = await startWithDevice();
    await trace(t, device, [
      session("short", 18, { commits: [OTHER.slice(0, 7)] }),
      session("one", 10, { commits: ["c0ffee1aaaa"] }),
      session("two", 11, { commits: ["c0ffee1bbbb"] }),
    ]);
    await publish(t, device, [`## 2026-11-25 Ambiguous\n\nSince c0ffee1.`, `## 2026-11-20 Long\n\nSince ${OTHER}.`]);
    expect(await linked(t, device)).toEqual(["Long: short strong"]);
  });

  it("does not put a defect down to the session that fixed it", async () => {
    const { t, device } = await startWithDevice();
    await trace(t, device, [
      session("culprit", 15, { commits: [SHA], files: ["src/cart.ts"] }),
      session("mender", 20, { commits: [OTHER], files: ["src/cart.ts"] }),
    ]);
    await publish(t, device, [
      `## 2026-11-20 Both\n\nIntroduced in ${SHA.slice(0, 7)}.\n\n**Fix:** ${OTHER.slice(0, 7)} checks it.`,
      `## 2026-11-20 Fix and file\n\n\`src/cart.ts\` forgot tax. Fixed in ${OTHER.slice(0, 7)}.`,
      `## 2026-11-20 Fix alone\n\nForgot tax. Fixed in ${OTHER.slice(0, 7)}.`,
    ]);
    expect(await linked(t, device)).toEqual([
      "Both: culprit strong",
      "Fix alone: mender weak",
      "Fix and file: culprit probable",
    ]);
  });

  it("does not take a commit from after the entry's day for its cause", async () => {
    const { t, device } = await startWithDevice();
    await trace(t, device, [session("s-1", 20, { endedAt: at(25, 12), commits: [{ sha: SHA, at: at(24) }] })]);
    await publish(t, device, [`## 2026-11-20 Cart\n\nSee ${SHA}.`]);
    expect(await linked(t, device)).toEqual(["Cart: s-1 weak"]);
  });

  it("finds the session that alone touched the files an entry names, however each spells them", async () => {
    const { t, device } = await startWithDevice();
    await trace(t, device, [
      session("rooted", 17, { cwd: "/home/me/shop", files: ["/home/me/shop/src/cart.ts"] }),
      session("windows", 17, { files: ["C:\\work\\shop\\src\\tax.ts"] }),
      session("edits", 17, {
        prompts: [
          { at: at(17, 12), text: "First" },
          { at: at(17, 12, 40), text: "Second" },
        ],
        spans: [{ id: "e", startedAt: at(17, 12, 20), edits: [{ path: "./lib/pay.ts", startLine: 1, endLine: 2 }] }],
      }),
    ]);
    await publish(t, device, [
      "## 2026-11-20 Cart\n\nIn `./src/cart.ts:12`.",
      "## 2026-11-20 Tax\n\nIn src/tax.ts.",
      "## 2026-11-20 Pay\n\nIn pay.ts, see Promise.all.",
    ]);
    expect(await linked(t, device)).toEqual(
      ["Cart: rooted probable", "Pay: edits probable", "Tax: windows probable"].sort((a, b) => (a < b ? -1 : 1)),
    );
    const pay = (await links(t, device.team.id)).find(({ heading }) => heading.endsWith("Pay"));
    expect(pay?.promptExcerpt).toBe("First");
    expect(pay?.label).toBe("Probably caused by");
    expect(pay?.evidence[0]).toEqual({
      kind: "edit",
      path: "pay.ts",
      spanId: "e",
      at: at(17, 12, 20),
      says: "The session edited pay.ts, which the entry names; no other session of the 30 days before did.",
    });
  });

  it("calls several candidates, or a matching date alone, possible, and stores nothing without either", async () => {
    const { t, device } = await startWithDevice();
    await trace(t, device, [
      session("a", 12, { files: ["src/cart.ts"] }),
      session("b", 13, { files: ["src/cart.ts"] }),
      session("day", 20),
    ]);
    await publish(t, device, [
      "## 2026-11-20 Cart\n\nIn src/cart.ts.",
      "## 2026-11-20 Date\n\nNo more.",
      "## 2026-11-05 None\n\nIn src/cart.ts.",
      "## 2026-12-20 Later\n\nIn src/cart.ts.",
    ]);
    expect(await linked(t, device)).toEqual(["Cart: b weak", "Cart: a weak", "Date: day weak"]);
    const [first] = await links(t, device.team.id);
    expect([first?.label, first?.counts]).toEqual(["Possibly caused by", false]);
    expect(await correlate(t.instance.core, device.team.id)).toEqual({
      considered: 4,
      linked: 0,
      possible: 2,
      unlinked: 2,
    });
  });

  it("keeps teams and repositories apart", async () => {
    const t = await startInstance();
    const [mine, other] = [await t.device(), await t.device()];
    await trace(t, other, [session("foreign", 18, { commits: [SHA], files: ["src/cart.ts"] })]);
    await trace(t, mine, [session("elsewhere", 18, { commits: [SHA], files: ["src/cart.ts"] })], "api");
    await publish(t, mine, [`## 2026-11-20 Cart\n\nSince ${SHA} in src/cart.ts.`]);
    expect(await linked(t, mine)).toEqual([]);
    await trace(t, mine, [session("homeless", 18, { commits: [SHA] })], "");
    expect(await linked(t, mine)).toEqual(["Cart: homeless strong"]);
    expect(await linked(t, other)).toEqual([]);
    expect(
      linksOfSession(t.instance.core, other.team.id, t.rows("SELECT session_id AS id FROM causal_links")[0].id),
    ).toEqual([]);
  });

  it("changes nothing when it is run again", async () => {
    const { t, device } = await startWithDevice();
    await trace(t, device, [
      session("a", 12, { files: ["src/cart.ts"], commits: [SHA] }),
      session("b", 13, { files: ["src/cart.ts"], spans: [{ id: "x", edits: [{ path: "src/cart.ts" }] }] }),
    ]);
    await publish(t, device, [
      `## 2026-11-20 Cart\n\nSince ${SHA}.`,
      "## 2026-11-20 Files\n\nIn src/cart.ts.",
      "## 2026-11-13 Date\n\nNo more.",
    ]);
    await follow(t);
    const before = everything(t);
    expect(before.map((rows) => rows.length > 0)).toEqual([true, true, true, true, true]);
    const changes = t.instance.core.store.db.prepare("SELECT total_changes()").pluck();
    const counted = changes.get();
    t.clock.advance(60_000);
    const sums = [
      await correlate(t.instance.core, device.team.id),
      await correlate(t.instance.core, device.team.id, "shop"),
    ];
    expect(sums[0]).toEqual({ considered: 3, linked: 1, possible: 2, unlinked: 0 });
    expect(sums[1]).toEqual(sums[0]);
    expect(changes.get()).toBe(counted);
    expect(everything(t)).toEqual(before);
    // Everything from the beginning, as after the tables were emptied.
    t.instance.core.store.db.exec("DELETE FROM projections");
    await follow(t);
    expect(everything(t)).toEqual(before);
  });

  it("follows sessions and brains as they come, in whatever order", async () => {
    const { t, device } = await startWithDevice();
    await publish(t, device, ["## 2026-11-20 Cart\n\nIn src/cart.ts."]);
    expect(await linked(t, device)).toEqual([]);
    await trace(t, device, [session("a", 18, { files: ["src/cart.ts"] })]);
    expect(await linked(t, device)).toEqual(["Cart: a probable"]);
    const [kept] = await links(t, device.team.id);
    await trace(t, device, [session("b", 19)]);
    await trace(t, device, [{ id: "b", outcome: "success", spans: [{ id: "x", edits: [{ path: "src/cart.ts" }] }] }]);
    expect(await linked(t, device)).toEqual(["Cart: b weak", "Cart: a weak"]);
    expect((await links(t, device.team.id)).find(({ sessionId }) => sessionId === "a")?.id).toBe(kept?.id);
    await trace(t, device, [session("b", 19)], "api");
    expect(await linked(t, device)).toEqual(["Cart: a probable"]);
    expect(t.rows("SELECT repo_key FROM trace_session_files ORDER BY session_id").map((row) => row.repo_key)).toEqual([
      "shop",
      "api",
    ]);
    await publish(t, device, [`## 2026-11-20 Cart\n\nIn src/tax.ts.`], { version: 2 });
    expect(await linked(t, device)).toEqual([]);
    expect(t.count("causal_links")).toBe(0);
  });

  it("follows an entry whose heading loses its marker", async () => {
    const { t, device } = await startWithDevice();
    await trace(t, device, [session("a", 18, { files: ["src/cart.ts"] })]);
    await publish(t, device, ["## ⏳ 2026-11-20 Cart\n\nIn src/cart.ts."]);
    await follow(t);
    const [before] = await links(t, device.team.id);
    await publish(t, device, ["## 2026-11-20 Cart\n\nIn src/cart.ts."], { version: 2 });
    await follow(t);
    const [after, ...more] = await links(t, device.team.id);
    expect(more).toEqual([]);
    expect([after?.id, after?.heading]).toEqual([before?.id, "2026-11-20 Cart"]);
    expect(linksOfEntry(t.instance.core, device.team.id, { id: after?.entryId ?? 0 })).toEqual([after]);
  });

  it("counts strong and probable links and those of people, each defect once, and never weak ones", async () => {
    const { t, device } = await startWithDevice();
    await trace(t, device, [
      session("a", 12, { commits: [SHA], files: ["src/cart.ts"] }),
      session("b", 13, { files: ["src/tax.ts"], model: "m-2", agent: "codex" }),
      session("c", 14, { files: ["src/both.ts"] }),
      session("d", 14, { files: ["src/both.ts"] }),
    ]);
    await publish(t, device, [
      `## 2026-11-20 One\n\nSince ${SHA}.`,
      "## 2026-11-20 Two\n\nIn src/cart.ts.",
      "## 2026-11-20 Three\n\nIn src/tax.ts.",
      "## 2026-11-20 Four\n\nIn src/both.ts.",
    ]);
    await follow(t);
    const found = attribution(t.instance.core, device.team.id, { repoKey: "shop" });
    expect([found.defects, found.ofSessions]).toEqual([3, 3]);
    expect(found.models.map(({ name, defects, sessions }) => [name, defects, sessions])).toEqual([
      ["m-1", 2, 3],
      ["m-2", 1, 1],
    ]);
    expect(found.models.map(({ classes }) => classes.length)).toEqual([2, 1]);
    expect(found.agents.map(({ name, defects, sessions }) => [name, defects, sessions])).toEqual([
      ["claude-code", 2, 3],
      ["codex", 1, 1],
    ]);
    expect(attribution(t.instance.core, device.team.id, { repoKey: "api" }).defects).toBe(0);
  });

  it("keeps no secret that a prompt held", async () => {
    const { t, device } = await startWithDevice();
    const secret = `ghp_${"a1B2".repeat(9)}`;
    await trace(t, device, [
      session("a", 18, { files: ["src/cart.ts"], prompts: [{ at: at(18), text: `Use ${secret}` }] }),
    ]);
    await publish(t, device, ["## 2026-11-20 Cart\n\nIn src/cart.ts."]);
    await follow(t);
    expect((await links(t, device.team.id))[0]?.promptExcerpt).toMatch(/^Use /);
    expect(JSON.stringify(everything(t))).not.toContain(secret);
  });
});

describe("a team with very many entries in many repositories", () => {
  it("has them correlated, and its links listed, without reading all of their texts for it", async () => {
    const t = await startInstance();
    const { core } = t.instance;
    const { id: teamId } = await t.team();
    core.store.db
      .prepare(
        `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)
         INSERT INTO defects (team_id, repo_key, path, kind, heading, ordinal, date, title, line, open, fingerprint, commits, files)
         SELECT ?, 'repo-' || i % 50, 'errors.md', 'error', 'h' || i, 0, '2026-11-20', 'h' || i, i, 0, randomblob(32), '[]', '[]' FROM n`,
      )
      .run(teamId);
    expect(await correlate(core, teamId)).toMatchObject({ considered: 100_000, unlinked: 100_000 });
    const before = process.threadCpuUsage();
    expect(await links(t, teamId)).toEqual([]);
    const { user, system } = process.threadCpuUsage(before);
    // Reading all of their rows with their texts, only to know their numbers, took 500 ms.
    expect((user + system) / 1000).toBeLessThan(200);
  }, 120_000);
});
