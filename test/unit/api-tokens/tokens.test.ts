import { describe, expect, it } from "vitest";
import {
  apiReads,
  createApiToken,
  endApiTokens,
  listApiTokens,
  revokeApiToken,
} from "../../../src/identity/api-tokens/api-tokens.ts";
import { rows } from "../../../src/identity/api-tokens/rows.ts";
import { type ApiPrincipal, findApiPrincipal, type NewApiToken } from "../../../src/identity/api-tokens/tokens.ts";
import { recordApiRead } from "../../../src/identity/api-tokens/uses.ts";
import { removeMember, setRole } from "../../../src/identity/members/members.ts";
import { setOperator } from "../../../src/identity/people/people.ts";
import { setDisabled } from "../../../src/identity/sign-in/sign-in.ts";
import { DAY_MS } from "../../../src/kit/clock.ts";
import { systemRandom } from "../../../src/kit/random.ts";
import { newToken, tokenDigest } from "../../../src/kit/tokens.ts";
import { type Actor, COMMAND_LINE } from "../../../src/platform/audit/audit.ts";
import { redactText } from "../../../src/redact/redact.ts";
import { eraseNow } from "../../support/erasure.ts";
import { startWithTeam } from "../../support/instance.ts";
import { memberOf } from "../../support/reads.ts";

async function started() {
  const { t, core, team } = await startWithTeam();
  const user = await memberOf(t, team);
  const by: Actor = { kind: "user", id: user.id, label: user.email, ip: "192.0.2.7" };
  await setRole(core, team.id, user.id, "admin", COMMAND_LINE);
  const make = (wanted: Partial<NewApiToken> = {}) =>
    createApiToken(core, { teamId: team.id, userId: user.id, name: "report", ...wanted }, by);
  return { t, core, team, user, by, make };
}

describe("making an API token", () => {
  it("stores its digest, scope and expiry, and records who made it from where; never the token", async () => {
    const { t, core, team, user, make } = await started();
    const made = await make({ name: " weekly  report " });
    expect(made).toEqual({
      id: expect.stringMatching(/^atk_/),
      token: expect.stringMatching(/^rka_[0-9A-Za-z]{36}$/),
      scopes: ["read"],
      expiresAt: t.clock.now() + 90 * DAY_MS,
    });
    const [row] = t.rows("SELECT * FROM api_tokens");
    expect(row).toMatchObject({ id: made.id, team_id: team.id, user_id: user.id, name: "weekly  report" });
    expect(row.token_hash).toEqual(tokenDigest(made.token));
    expect(findApiPrincipal(core, made.token)).toEqual({ tokenId: made.id, teamId: team.id, scope: "read" });
    const [event] = t.rows("SELECT * FROM audit_events WHERE action = 'api_token.created'");
    expect(event).toMatchObject({ team_id: team.id, actor_id: user.id, ip: "192.0.2.7", target_id: made.id });
    expect(JSON.parse(event.detail)).toMatchObject({ owner: user.email, scopes: ["read"] });
    expect(JSON.stringify([t.rows("SELECT * FROM audit_events"), t.log])).not.toContain(made.token);
    expect(redactText(`token ${made.token}`).text).not.toContain(made.token);
  });

  it.each<[string, Partial<NewApiToken>, RegExp]>([
    ["an empty name", { name: " " }, /1 to 100/],
    ["a name of two lines", { name: "a\nb" }, /one line/],
    ["a lifetime under a minute", { lifetimeMs: 59_999 }, /minute/],
    ["a lifetime over a year", { lifetimeMs: 365 * DAY_MS + 1 }, /365 days/],
    ["a lifetime that is no number", { lifetimeMs: Number.NaN }, /365 days/],
    ["all teams by somebody who is no operator", { teamId: null }, /Only operators/],
  ])("is refused with %s, and nothing is stored", async (_, wanted, reason) => {
    const { t, make } = await started();
    await expect(make(wanted)).rejects.toThrow(reason);
    expect(t.count("api_tokens")).toBe(0);
    expect(t.rows("SELECT 1 FROM audit_events WHERE action LIKE 'api_token%'")).toEqual([]);
  });

  it("is refused to a mere member, to a closed account, and to a team that has a hundred; secrets leave the name", async () => {
    const { t, core, team, user, make } = await started();
    const secret = newToken("rkd", systemRandom);
    const made = await Promise.all(Array.from({ length: 100 }, () => make({ name: `for ${secret}` })));
    expect(JSON.stringify(t.rows("SELECT name FROM api_tokens"))).not.toContain(secret);
    await expect(make()).rejects.toThrow(/100 API tokens/);
    await revokeApiToken(core, made[0]?.id as string, COMMAND_LINE);
    await make();
    await setRole(core, team.id, user.id, "member", COMMAND_LINE);
    await expect(make()).rejects.toThrow(/owners and admins/);
    await setDisabled(core, user.id, true, COMMAND_LINE);
    await expect(make()).rejects.toThrow(/closed/);
  });
});

describe("a token that administers", () => {
  it("reads as well, must say for how long it works, and works for 30 days at most", async () => {
    const { t, core, team, make } = await started();
    await expect(make({ scope: "admin" })).rejects.toMatchObject({
      code: "bad_request",
      message: expect.stringContaining("for how long"),
    });
    await expect(make({ scope: "admin", lifetimeMs: 30 * DAY_MS + 1 })).rejects.toMatchObject({
      message: expect.stringContaining("30 days"),
    });
    expect(t.count("api_tokens")).toBe(0);
    const made = await make({ scope: "admin", lifetimeMs: 30 * DAY_MS });
    expect(made.scopes).toEqual(["read", "admin"]);
    expect(t.rows("SELECT scopes FROM api_tokens")).toEqual([{ scopes: '["read","admin"]' }]);
    expect(findApiPrincipal(core, made.token)).toEqual({ tokenId: made.id, teamId: team.id, scope: "admin" });
    expect((await t.get("/api/devices", { token: made.token })).status).toBe(200);
    t.clock.advance(30 * DAY_MS);
    expect(findApiPrincipal(core, made.token)).toBeUndefined();
  });
});

describe("an API token", () => {
  it("is told nothing of another team, and nothing more once it is revoked while it reads", async () => {
    const { t, core, make } = await started();
    const { id, token } = await make();
    const other = await t.team({ name: "Other" });
    const status = async (team: string) => (await t.call("GET", `/api/sessions?team=${team}`, { token })).status;
    expect([await status(other.id), await status("Other")]).toEqual([404, 404]);
    const reading = findApiPrincipal(core, token) as ApiPrincipal;
    await revokeApiToken(core, id, COMMAND_LINE);
    const days = t.rows("SELECT * FROM api_token_days");
    await expect(recordApiRead(core, reading, "apiListSessions")).rejects.toMatchObject({ status: 401 });
    expect(t.rows("SELECT * FROM api_token_days")).toEqual(days);
  });

  it("works until it expires or is revoked by its team, once, and the record says so", async () => {
    const { t, core, team, make, by } = await started();
    const [short, gone] = [await make({ lifetimeMs: DAY_MS }), await make()];
    await expect(revokeApiToken(core, gone.id, by, (await t.team()).id)).rejects.toThrow(/no such/);
    expect(findApiPrincipal(core, gone.token)).toBeDefined();
    expect([await revokeApiToken(core, gone.id, by, team.id), await revokeApiToken(core, gone.id, by)]).toEqual([
      true,
      false,
    ]);
    expect(findApiPrincipal(core, gone.token)).toBeUndefined();
    t.clock.advance(DAY_MS);
    expect(findApiPrincipal(core, short.token)).toBeUndefined();
    expect(listApiTokens(core, team.id).map(({ status }) => status)).toEqual(["revoked", "expired"]);
    expect(t.rows("SELECT target_id FROM audit_events WHERE action = 'api_token.revoked'")).toEqual([
      { target_id: gone.id },
    ]);
  });

  it("works while its owner may manage the team, and one without an owner works whoever comes and goes", async () => {
    const { core, team, user, make } = await started();
    const [theirs, nobodys] = [await make(), await make({ userId: null })];
    const works = ({ token }: { readonly token: string }) => findApiPrincipal(core, token) !== undefined;
    await setRole(core, team.id, user.id, "member", COMMAND_LINE);
    expect([works(theirs), works(nobodys)]).toEqual([false, true]);
    expect(listApiTokens(core, team.id).map(({ status }) => status)).toEqual(["active", "suspended"]);
    await setRole(core, team.id, user.id, "admin", COMMAND_LINE);
    expect(works(theirs)).toBe(true);
    await setDisabled(core, user.id, true, COMMAND_LINE);
    expect([works(theirs), works(nobodys)]).toEqual([false, true]);
    expect(listApiTokens(core, team.id).map(({ status }) => status)).toEqual(["active", "suspended"]);
    await setDisabled(core, user.id, false, COMMAND_LINE);
    expect(works(theirs)).toBe(true);
    await removeMember(core, team.id, user.id, COMMAND_LINE);
    expect(works(theirs)).toBe(false);
    await setOperator(core, user.id, true, COMMAND_LINE);
    expect(works(theirs)).toBe(true);
    const all = await make({ teamId: null });
    expect(findApiPrincipal(core, all.token)).toEqual({ tokenId: all.id, teamId: null, scope: "read" });
    await setOperator(core, user.id, false, COMMAND_LINE);
    expect(works(all)).toBe(false);
  });

  it("ends with its owner's other tokens when they are ended; tokens without an owner stay", async () => {
    const { t, core, user, make } = await started();
    const [theirs, nobodys] = [await make(), await make({ userId: null })];
    await core.store.write(() => endApiTokens(core, user.id, COMMAND_LINE));
    expect([findApiPrincipal(core, theirs.token), findApiPrincipal(core, nobodys.token)?.tokenId]).toEqual([
      undefined,
      nobodys.id,
    ]);
    expect((await t.get("/api/sessions", { token: theirs.token })).status).toBe(401);
  });

  it("is counted by day and operation, for 400 days", async () => {
    const { t, core, make } = await started();
    const { id, token } = await make({ lifetimeMs: 365 * DAY_MS });
    for (const path of ["/api/sessions", "/api/sessions", "/api/devices"]) await t.get(path, { token });
    t.clock.advance(DAY_MS);
    await t.get("/api/devices", { token });
    expect(apiReads(core, id)).toEqual({ today: 1, month: { readDevices: 2, readSessions: 2 } });
    expect(t.rows("SELECT last_used_at AS at FROM api_tokens")).toEqual([{ at: t.clock.now() }]);
    core.store.db.exec("UPDATE api_token_days SET day = day - 401");
    await t.get("/api/devices", { token });
    expect(t.rows("SELECT operation, reads FROM api_token_days")).toEqual([{ operation: "readDevices", reads: 1 }]);
  });

  it("goes with its owner when that person is erased", async () => {
    const { t, core, user, make } = await started();
    const made = await make({ name: "marigold report" });
    await eraseNow(core, { person: user.email });
    expect(findApiPrincipal(core, made.token)).toBeUndefined();
    expect(t.rows("SELECT name, revoked_at IS NOT NULL AS revoked FROM api_tokens")).toEqual([
      { name: "erased", revoked: 1 },
    ]);
  });

  it("is looked up through indexes", async () => {
    const { t, core } = await started();
    for (const [name, { source }] of Object.entries(rows(core.store)) as unknown as [string, { source: string }][]) {
      const plan = t.rows(
        `EXPLAIN QUERY PLAN ${source}`,
        ...Array.from(source.matchAll(/\?/g), () => null),
        ...(source.includes("@") ? [{ userId: "", now: 0, limit: 1 }] : []),
      );
      const scans = plan.filter(({ detail }) => /SCAN api_token/.test(detail));
      // The command line's list of everybody's tokens is the one that reads the whole table.
      expect([name, scans.length > 0]).toEqual([name, name === "tokens"]);
    }
  });
});
