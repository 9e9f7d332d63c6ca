import { describe, expect, it } from "vitest";
import { startInstance, startWithDevice, type TestInstance } from "../support/instance.ts";

const SHA = "a1b2c3d4e5f60718293a4b5c6d7e8f9012345678";
const ERRORS = ".claude/brain/errors.md";

/** A team with a strong, a probable and a possible link in two repositories. */
async function filled(t: TestInstance) {
  const device = await t.device();
  const { token } = device;
  const times = { startedAt: "2026-11-18T12:00:00Z", endedAt: "2026-11-18T13:00:00Z" };
  const prompts = [{ at: "2026-11-18T12:00:00Z", text: "Write the login" }];
  const sessions = [
    { id: "s-1", outcome: "success", spans: [], ...times, prompts, commits: [SHA], files: ["src/login.ts"] },
    { id: "s-2", outcome: "success", spans: [], ...times, files: ["src/both.ts"] },
    { id: "s-3", outcome: "success", spans: [], ...times, files: ["src/both.ts"] },
  ];
  for (const repoKey of ["shop", "api"])
    await t.post("/api/agent-traces/ingest", {
      token,
      json: { repoKey, sessions: sessions.map((one) => ({ ...one, id: `${repoKey}-${one.id}` })) },
    });
  const files = [
    {
      path: ERRORS,
      content: `## 2026-11-20 Loop\n\nSince ${SHA.slice(0, 7)}.\n\n**Prevention rule:** set Path.\n\n## 2026-11-19 Both\n\nIn src/both.ts.\n`,
    },
    { path: ".claude/brain/security.md", content: "## 2026-11-21 Leak\n\nIn src/login.ts.\n" },
  ];
  for (const repoKey of ["shop", "api"])
    await t.post("/api/brain/ingest", { token, json: { version: 1, repoKey, files } });
  return device;
}
const list = async (t: TestInstance, token: string, query = "") =>
  (await t.get(`/api/causal-link${query}`, { token })).body;
const ids = (body: { links: { sessionId: string; band: string }[] }) =>
  body.links.map(({ sessionId, band }) => `${sessionId} ${band}`);

describe("causalLinkList", () => {
  it("lists the causes of newly arrived defects, the newest first, without being asked to correlate", async () => {
    const t = await startInstance();
    const { token } = await filled(t);
    const body = await list(t, token, "?repoKey=shop");
    expect([body.ok, body.total]).toEqual([true, 4]);
    expect(ids(body)).toEqual(["shop-s-1 probable", "shop-s-1 strong", "shop-s-3 weak", "shop-s-2 weak"]);
    expect(body.links[1]).toEqual({
      id: expect.stringMatching(/^lnk_[0-9a-z]{26}$/),
      ...{ repoKey: "shop", file: ERRORS, heading: "2026-11-20 Loop", ordinal: 0, date: "2026-11-20" },
      fingerprint: expect.stringMatching(/^[0-9a-f]{8}$/),
      ...{ band: "strong", label: "Caused by", origin: "computed", verdict: null, counts: true },
      ...{ commit: SHA, sessionId: "shop-s-1", promptExcerpt: "Write the login" },
      evidence: [
        { kind: "commit", commit: SHA, says: "The entry calls commit a1b2c3d the cause; this session made it." },
        {
          kind: "time",
          startedAt: "2026-11-18T12:00:00.000Z",
          endedAt: "2026-11-18T13:00:00.000Z",
          says: "The session ran from 2026-11-18 12:00 to 2026-11-18 13:00 UTC.",
        },
      ],
    });
    expect(body.links[3]).toMatchObject({ label: "Possibly caused by", counts: false });
  });

  it("narrows by repository, file, class and session, and counts what it doesn't list", async () => {
    const t = await startInstance();
    const { token } = await filled(t);
    expect((await list(t, token)).total).toBe(8);
    expect(ids(await list(t, token, "?file=.claude/brain/security.md"))).toEqual([
      "api-s-1 probable",
      "shop-s-1 probable",
    ]);
    const { fingerprint } = (await list(t, token, "?repoKey=shop")).links[1];
    expect(ids(await list(t, token, `?fingerprint=${fingerprint.toUpperCase()}`))).toEqual([
      "api-s-1 strong",
      "shop-s-1 strong",
    ]);
    expect(ids(await list(t, token, "?sessionId=api-s-3"))).toEqual(["api-s-3 weak"]);
    const few = await list(t, token, "?limit=3");
    expect([few.total, few.links.length]).toEqual([8, 3]);
    for (const none of ["?repoKey=x", "?file=x", "?fingerprint=00000000", "?sessionId=x"])
      expect(await list(t, token, none)).toEqual({ ok: true, total: 0, links: [] });
  });

  it("can be read to its end in pages of any size, with the total on each", async () => {
    const t = await startInstance();
    const { token } = await filled(t);
    const whole = await list(t, token);
    expect([whole.total, whole.links.length, "next" in whole]).toEqual([8, 8, false]);
    for (const size of [1, 3, 4, 7, 8]) {
      const read = [];
      for (let after = "", pages = 0; pages < 9; pages++) {
        const page = await list(t, token, `?limit=${size}${after}`);
        expect(page.total).toBe(8);
        read.push(...page.links);
        if (page.next === undefined) break;
        after = `&after=${page.next}`;
      }
      expect(read).toEqual(whole.links);
    }
    const shop = await list(t, token, "?repoKey=shop&limit=2");
    const rest = await list(t, token, `?repoKey=shop&limit=2&after=${shop.next}`);
    expect([rest.total, ids(rest), rest.next]).toEqual([4, ["shop-s-3 weak", "shop-s-2 weak"], undefined]);
  });

  it("skips no link when the one that a page ended with is rejected or gone by the next", async () => {
    const t = await startInstance();
    const { token } = await filled(t);
    const whole = await list(t, token);
    const { links, next } = await list(t, token, "?limit=3");
    const last = links.at(-1).id;
    const { db } = t.instance.core.store;
    db.prepare("UPDATE causal_links SET verdict = 'rejected' WHERE id = ?").run(last);
    expect((await list(t, token, `?after=${next}`)).links).toEqual(whole.links.slice(3));
    db.prepare("DELETE FROM causal_links WHERE id = ?").run(last);
    const again = (await list(t, token, `?after=${next}`)).links.map((link: { id: string }) => link.id);
    expect(again).toEqual(expect.arrayContaining(whole.links.slice(3).map((link: { id: string }) => link.id)));
    const other = await t.device();
    expect(await list(t, other.token, `?after=${next}`)).toEqual({ ok: true, total: 0, links: [] });
  });

  it("leaves out rejected links, and links of entries that are gone", async () => {
    const t = await startInstance();
    const { token } = await filled(t);
    await list(t, token);
    t.instance.core.store.db.exec("UPDATE causal_links SET verdict = 'rejected' WHERE band = 'strong'");
    expect((await list(t, token)).total).toBe(6);
    const json = { version: 2, repoKey: "api", files: [{ path: "README.md", content: "# Read me\n" }] };
    await t.post("/api/brain/ingest", { token, json });
    expect(ids(await list(t, token))).toEqual(["shop-s-1 probable", "shop-s-3 weak", "shop-s-2 weak"]);
  });

  it("refuses invalid filters", async () => {
    const { t, token } = await startWithDevice();
    for (const query of [
      "?limit=0",
      "?limit=201",
      "?limit=x",
      "?fingerprint=abc",
      "?fingerprint=xyzxyzxy",
      "?repoKey=",
      "?after=",
      "?after=2",
      "?after=lnk_x",
    ])
      expect([query, (await t.get(`/api/causal-link${query}`, { token })).status]).toEqual([query, 400]);
  });

  it("still answers while nothing can be stored", async () => {
    const t = await startInstance();
    const { token } = await filled(t);
    await list(t, token);
    const json = { repoKey: "shop", sessions: [{ id: "late", outcome: "x", spans: [] }] };
    await t.post("/api/agent-traces/ingest", { token, json });
    t.instance.core.store.db.pragma("query_only = ON");
    expect((await list(t, token)).total).toBe(8);
    t.instance.core.store.db.pragma("query_only = OFF");
  });
});
