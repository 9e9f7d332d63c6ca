import { describe, expect, it } from "vitest";
import { startInstance, type TestInstance } from "../support/instance.ts";

const SHA = "a1b2c3d4e5f60718293a4b5c6d7e8f9012345678";
const ERRORS = ".claude/brain/errors.md";
const ENTRY = { repoKey: "shop", file: ERRORS, heading: "2026-11-20 Loop" };

async function filled(t: TestInstance) {
  const device = await t.device();
  const { token } = device;
  const sessions = [
    { id: "s-1", outcome: "success", spans: [], startedAt: "2026-11-18T12:00:00Z", commits: [SHA] },
    { id: "s-2", outcome: "success", spans: [], startedAt: "2026-11-19T12:00:00Z" },
  ];
  await t.post("/api/agent-traces/ingest", { token, json: { repoKey: "shop", sessions } });
  const files = [{ path: ERRORS, content: `## 2026-11-20 Loop\n\nSince ${SHA}.\n` }];
  await t.post("/api/brain/ingest", { token, json: { version: 1, repoKey: "shop", files } });
  return device;
}
const say = (t: TestInstance, token: string, json: object) =>
  t.post("/api/causal-link", { token, json: { ...ENTRY, ...json } });

describe("causalLinkCreate", () => {
  it("stores a person's statement, which outranks computed links and survives correlation", async () => {
    const t = await startInstance();
    const device = await filled(t);
    const { token } = device;
    const answer = await say(t, token, { sessionId: "s-2", promptExcerpt: "Rewrite\nthe login" });
    expect([answer.status, answer.body]).toEqual([
      200,
      {
        ok: true,
        link: {
          id: expect.stringMatching(/^lnk_/),
          ...{ repoKey: "shop", file: ERRORS, heading: "2026-11-20 Loop", ordinal: 0, date: "2026-11-20" },
          fingerprint: expect.stringMatching(/^[0-9a-f]{8}$/),
          ...{ band: "strong", label: "Caused by", origin: "person", verdict: null, counts: true },
          ...{ commit: null, sessionId: "s-2", promptExcerpt: "Rewrite the login" },
          evidence: [{ kind: "person", says: `${device.deviceId} said so.` }],
        },
      },
    ]);
    await t.post("/api/causal-link/correlate", { token });
    const { links } = (await t.get("/api/causal-link", { token })).body;
    expect(links.map((one: typeof answer.body.link) => [one.origin, one.sessionId, one.counts])).toEqual([
      ["person", "s-2", true],
      ["computed", "s-1", false],
    ]);
    expect(links[0]).toEqual(answer.body.link);
    expect(t.rows("SELECT team_id, actor_id, action FROM audit_events WHERE action LIKE 'link%'")).toEqual([
      { team_id: device.team.id, actor_id: device.deviceId, action: "link.created" },
    ]);
  });

  it("stores the same statement only once", async () => {
    const t = await startInstance();
    const { token } = await filled(t);
    const first = await say(t, token, { sessionId: "s-2" });
    expect((await say(t, token, { sessionId: "s-2" })).body).toEqual(first.body);
    expect(t.rows("SELECT id FROM causal_links WHERE origin = 'person'")).toHaveLength(1);
  });

  it("finds a commit's session, and accepts a commit of no known session", async () => {
    const t = await startInstance();
    const { token } = await filled(t);
    expect((await say(t, token, { commit: SHA.slice(0, 8) })).body.link).toMatchObject({
      commit: SHA,
      sessionId: "s-1",
    });
    expect((await say(t, token, { commit: "fffffff" })).body.link).toMatchObject({
      commit: "fffffff",
      sessionId: null,
    });
  });

  it("says what is wrong with an invalid statement, and stores nothing", async () => {
    const t = await startInstance();
    const { token } = await filled(t);
    const other = await t.device();
    await t.get("/api/causal-link", { token });
    const before = t.rows("SELECT * FROM causal_links");
    const refused: [object, number, RegExp][] = [
      [{}, 400, /"sessionId" or "commit"/],
      [{ commit: "xyz" }, 400, /"commit"/],
      [{ commit: SHA, sessionId: "s-2" }, 400, /another session/],
      [{ sessionId: "nobody" }, 404, /session/],
      [{ sessionId: "s-1", heading: "2026-11-20 Other" }, 404, /heading/],
      [{ sessionId: "s-1", file: "README.md" }, 404, /heading/],
      [{ sessionId: "s-1", repoKey: "api" }, 404, /heading/],
      [{ sessionId: "s-1", ordinal: 1 }, 404, /heading/],
      [{ sessionId: "s-1", ordinal: -1 }, 400, /ordinal/],
      [{ sessionId: "s-1", promptExcerpt: "x".repeat(4_001) }, 400, /promptExcerpt/],
    ];
    for (const [json, status, says] of refused) {
      const answer = await say(t, token, json);
      expect([json, answer.status]).toEqual([json, status]);
      expect(answer.body.error).toMatch(says);
    }
    expect((await say(t, other.token, { sessionId: "s-1" })).status).toBe(404);
    expect(t.rows("SELECT * FROM causal_links")).toEqual(before);
  });

  it("stores no secret, and refuses a tier without traces", async () => {
    const t = await startInstance();
    const { token } = await filled(t);
    const secret = `ghp_${"a1B2".repeat(9)}`;
    const answer = await say(t, token, { sessionId: "s-2", promptExcerpt: `Use ${secret} here` });
    expect(answer.body.link.promptExcerpt).toMatch(/^Use .* here$/);
    expect(answer.text + JSON.stringify(t.rows("SELECT * FROM causal_links"))).not.toContain(secret);
    const starter = await t.device(await t.team({ tier: "starter" }));
    const gated = await say(t, starter.token, { sessionId: "s-2" });
    expect([gated.status, gated.body.entitled]).toEqual([402, ["team", "enterprise"]]);
  });
});
