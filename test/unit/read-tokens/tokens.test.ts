import { describe, expect, it } from "vitest";
import {
  createReadToken,
  listReadTokens,
  type NewReadToken,
  revokeReadToken,
} from "../../../src/identity/read-tokens/read-tokens.ts";
import { rows } from "../../../src/identity/read-tokens/rows.ts";
import { findReader } from "../../../src/identity/read-tokens/tokens.ts";
import { setDisabled } from "../../../src/identity/sign-in/sign-in.ts";
import { listReads } from "../../../src/insight/ask/ask.ts";
import { rows as readRows } from "../../../src/insight/ask/rows.ts";
import { DAY_MS } from "../../../src/kit/clock.ts";
import { systemRandom } from "../../../src/kit/random.ts";
import { newToken, tokenDigest } from "../../../src/kit/tokens.ts";
import { type Actor, COMMAND_LINE } from "../../../src/platform/audit/audit.ts";
import { startInstance, startWithTeam } from "../../support/instance.ts";
import { memberOf } from "../../support/reads.ts";

async function owner() {
  const { t, team } = await startWithTeam();
  const user = await memberOf(t, team);
  const by: Actor = { kind: "user", id: user.id, label: user.email, ip: "192.0.2.7" };
  const make = (wanted: Partial<NewReadToken> = {}) =>
    createReadToken(t.instance.core, { userId: user.id, name: "assistant", ...wanted }, by);
  return { t, core: t.instance.core, team, user, by, make };
}

describe("making a read token", () => {
  it("stores its digest, scope and expiry, and records who made it from where; never the token", async () => {
    const { t, core, team, user, make } = await owner();
    const scope = { teams: [team.id], repos: ["shop", "shop"], paths: ["docs/**"], kinds: ["error"] };
    const made = await make({ scope, name: " My  assistant " });
    expect(made).toEqual({
      id: expect.stringMatching(/^rtk_/),
      token: expect.stringMatching(/^rkr_[0-9A-Za-z]{36}$/),
      scope: { ...scope, repos: ["shop"] },
      expiresAt: t.clock.now() + 90 * DAY_MS,
    });
    const [row] = t.rows("SELECT * FROM read_tokens");
    expect(row).toMatchObject({ id: made.id, user_id: user.id, name: "My  assistant", expires_at: made.expiresAt });
    expect(row.token_hash).toEqual(tokenDigest(made.token));
    expect(findReader(core, made.token)).toEqual({ tokenId: made.id, userId: user.id, scope: made.scope });
    const [event] = t.rows("SELECT * FROM audit_events WHERE action = 'read_token.created'");
    expect(event).toMatchObject({
      actor_id: user.id,
      ip: "192.0.2.7",
      target_id: made.id,
      target_label: "My  assistant",
    });
    expect(JSON.parse(event.detail)).toMatchObject({ owner: user.email, scope: made.scope });
    expect(JSON.stringify([t.rows("SELECT * FROM audit_events"), t.log])).not.toContain(made.token);
  });

  it("takes secrets out of the name", async () => {
    const { t, make } = await owner();
    const secret = newToken("rkd", systemRandom);
    await make({ name: `for ${secret}` });
    expect(t.rows("SELECT name FROM read_tokens")[0].name).toMatch(/^for \[REDACTED/);
    expect(JSON.stringify(t.rows("SELECT * FROM audit_events"))).not.toContain(secret);
  });

  it.each<[string, Partial<NewReadToken>, RegExp]>([
    ["an empty name", { name: "  " }, /1 to 100/],
    ["a name that is too long", { name: "n".repeat(101) }, /1 to 100/],
    ["a name of two lines", { name: "a\nb" }, /one line/],
    ["a lifetime under a minute", { lifetimeMs: 59_999 }, /minute/],
    ["a lifetime over a year", { lifetimeMs: 365 * DAY_MS + 1 }, /365 days/],
    ["a lifetime that is no number", { lifetimeMs: Number.NaN }, /365 days/],
    ["a team its owner is not in", { scope: { teams: ["team_x"] } }, /not in the team/],
    ["a repository without a name", { scope: { repos: [""] } }, /1 to 512/],
    ["a repository of two lines", { scope: { repos: ["a\nb"] } }, /one line/],
    ["a glob that says nothing", { scope: { paths: ["docs/"] } }, /docs\/\*\*/],
    ["a glob with a control character", { scope: { paths: ["a\u0000"] } }, /control/],
    ["a glob that holds a secret", { scope: { paths: [`${newToken("rkd", systemRandom)}/**`] } }, /secret/],
    ["an unknown kind", { scope: { kinds: ["gossip"] } }, /"gossip" is no kind/],
    ["a list that is too long", { scope: { repos: Array.from({ length: 51 }, (_, i) => `r${i}`) } }, /at most 50/],
  ])("is refused with %s, and nothing is stored", async (_, wanted, reason) => {
    const { t, make } = await owner();
    await expect(make(wanted)).rejects.toThrow(reason);
    expect(t.count("read_tokens")).toBe(0);
    expect(t.rows("SELECT 1 FROM audit_events WHERE action LIKE 'read_token%'")).toEqual([]);
  });

  it("is refused for a closed account, and for a person who has a hundred that work", async () => {
    const { core, user, by, make } = await owner();
    const made = await Promise.all(Array.from({ length: 100 }, () => make()));
    await expect(make()).rejects.toThrow(/100 read tokens/);
    await revokeReadToken(core, user.id, made[0]?.id as string, by);
    await make();
    await setDisabled(core, user.id, true, COMMAND_LINE);
    await expect(make()).rejects.toThrow(/closed/);
  });
});

describe("a person's read tokens", () => {
  it("work to their last moment while the account is open, and cannot be ended by anybody else", async () => {
    const { t, core, user, by, make } = await owner();
    const { id, token } = await make({ lifetimeMs: DAY_MS });
    const stranger = await memberOf(t);
    await expect(revokeReadToken(core, stranger.id, id, by)).rejects.toMatchObject({ status: 404 });
    expect([findReader(core, token)?.tokenId, t.rows("SELECT revoked_at FROM read_tokens")]).toEqual([
      id,
      [{ revoked_at: null }],
    ]);
    await setDisabled(core, user.id, true, COMMAND_LINE);
    expect(findReader(core, token)).toBeUndefined();
    await setDisabled(core, user.id, false, COMMAND_LINE);
    t.clock.advance(DAY_MS - 1);
    expect(findReader(core, token)?.tokenId).toBe(id);
    t.clock.advance(1);
    expect(findReader(core, token)).toBeUndefined();
  });

  it("are listed newest first with their state, without the token or its digest", async () => {
    const { t, core, user, by, make } = await owner();
    const short = await make({ name: "short", lifetimeMs: DAY_MS });
    t.clock.advance(1_000);
    const gone = await make({ name: "gone" });
    t.clock.advance(1_000);
    await make({ name: "live" });
    await revokeReadToken(core, user.id, gone.id, by);
    t.clock.advance(DAY_MS);
    const listed = listReadTokens(core, user.id);
    expect(listed.map(({ name, status }) => [name, status])).toEqual([
      ["live", "active"],
      ["gone", "revoked"],
      ["short", "expired"],
    ]);
    expect(JSON.stringify(listed)).not.toContain(short.token);
    expect(listed[0]).not.toHaveProperty("tokenHash");
    expect(listReadTokens(core, (await memberOf(t)).id)).toEqual([]);
  });
});

describe("the list of reads", () => {
  it("goes page by page, of one token or all, and shows nobody else's", async () => {
    const { t, core, user, make } = await owner();
    const [one, two] = [await make({ name: "one" }), await make({ name: "two" })];
    for (const q of ["a1", "a2", "a3"]) await t.get(`/api/me/brain/context?q=${q}`, { token: one.token });
    await t.get("/api/me/brain/context?q=b1", { token: two.token });
    const first = listReads(core, user.id, { limit: 3 });
    expect(first.rows.map(({ question, tokenName }) => [question, tokenName])).toEqual([
      ["b1", "two"],
      ["a3", "one"],
      ["a2", "one"],
    ]);
    const second = listReads(core, user.id, { limit: 3, beforeId: first.older });
    expect(second.rows.map(({ question }) => question)).toEqual(["a1"]);
    expect(second.older).toBeUndefined();
    expect(listReads(core, user.id, { tokenId: one.id }).rows).toHaveLength(3);
    const other = await memberOf(t);
    expect(listReads(core, other.id, { tokenId: one.id }).rows).toEqual([]);
  });

  it("and every other look-up of tokens and reads use an index", async () => {
    const { t, core } = await owner();
    const statements = Object.entries({ ...rows(core.store), ...readRows(core.store) }) as unknown as [
      string,
      { readonly source: string },
    ][];
    for (const [name, { source }] of statements) {
      const named = Array.from(source.matchAll(/@(\w+)/g), ([, one]) => [one, null]);
      const unnamed = Array.from(source.matchAll(/\?/g), () => null);
      const parameters = named.length > 0 ? [Object.fromEntries(named)] : unnamed;
      const steps = t.rows(`EXPLAIN QUERY PLAN ${source}`, ...parameters).map(({ detail }) => detail);
      // The command line's list of all tokens is the only look-up that reads the whole table, and that sorts.
      const whole = name === "tokens";
      expect([name, steps.some((step) => /SCAN read_tokens/.test(step))]).toEqual([name, whole]);
      expect([name, steps.filter((step) => /SCAN/.test(step) && !whole)]).toEqual([name, []]);
      expect([name, steps.filter((step) => /TEMP B-TREE/.test(step) && !whole)]).toEqual([name, []]);
    }
  });
});

it("is told to each team that it reads, and to none what it reads of the others", async () => {
  const t = await startInstance();
  const [north, south, apart] = [await t.team({ name: "North" }), await t.team({ name: "South" }), await t.team()];
  const { core } = t.instance;
  const user = await memberOf(t, north, south);
  const scope = { repos: ["south/secret-plan"], kinds: ["error"] };
  const { id } = await createReadToken(core, { userId: user.id, name: "both", scope }, COMMAND_LINE);
  await createReadToken(core, { userId: user.id, name: "one", scope: { ...scope, teams: [south.id] } }, COMMAND_LINE);
  await revokeReadToken(core, user.id, id, COMMAND_LINE);
  const told = (teamId: string) =>
    t.rows(
      "SELECT action, target_label AS name, detail FROM audit_events WHERE team_id = ? AND action LIKE 'read%'",
      teamId,
    );
  expect(told(north.id).map(({ action, name }) => [action, name])).toEqual([
    ["read_token.created", "both"],
    ["read_token.revoked", "both"],
  ]);
  expect(JSON.stringify(told(north.id))).not.toContain("secret-plan");
  expect(told(south.id)).toHaveLength(3);
  expect(told(south.id)[1].detail).toContain("secret-plan");
  expect(told(apart.id)).toEqual([]);
});
