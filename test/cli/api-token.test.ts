import { expect, it } from "vitest";
import { startInstance } from "../support/instance.ts";
import { memberOf } from "../support/reads.ts";
import { command, commandJson } from "../support/remote.ts";

/** An instance with a person in one team; its clock is the real one's, as the commands' is. */
async function running() {
  const t = await startInstance();
  t.clock.jump(Date.now() - t.clock.now());
  const team = await t.team({ name: "Acme" });
  return { t, team, user: await memberOf(t, team) };
}

const json = (data: string, ...args: string[]) => commandJson(["api-token", ...args, "--data", data]);

it("makes API tokens beside a running server, lists how often they are used, and ends them", async () => {
  const { t, team } = await running();
  const made = await json(t.directory, ..."create --name report --team Acme --expires 12h".split(" "));
  expect(made).toEqual({
    id: expect.stringMatching(/^atk_/),
    token: expect.stringMatching(/^rka_/),
    scopes: ["read"],
    expiresAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
  });
  expect((Date.parse(made.expiresAt) - Date.now()) / 3_600_000).toBeCloseTo(12, 1);
  const read = () => t.get("/api/devices", { token: made.token });
  expect((await read()).status).toBe(200);
  const all = await json(t.directory, ..."create --name all --all-teams".split(" "));
  const listed = await json(t.directory, "list");
  expect(listed.map(({ id, team: name }: { id: string; team: string }) => [id, name])).toEqual([
    [all.id, null],
    [made.id, "Acme"],
  ]);
  expect(await json(t.directory, "list", "--team", team.id)).toEqual([
    {
      ...{ id: made.id, team: "Acme", user: null, name: "report", scopes: ["read"], status: "active" },
      ...{ createdAt: expect.any(String), expiresAt: made.expiresAt, lastUsedAt: expect.any(String), revokedAt: null },
      ...{ readsToday: 1, reads30Days: { readDevices: 1 } },
    },
  ]);
  expect(await json(t.directory, "revoke", made.id)).toEqual({ id: made.id, status: "revoked", changed: true });
  expect(await json(t.directory, "revoke", made.id)).toMatchObject({ changed: false });
  expect((await read()).status).toBe(401);
  expect(
    t.rows("SELECT actor_kind, team_id, action FROM audit_events WHERE target_id = ? ORDER BY id", made.id),
  ).toEqual(
    ["created", "revoked"].map((did) => ({ actor_kind: "command", team_id: team.id, action: `api_token.${did}` })),
  );
});

it("prints the token alone, and says what is wrong on stderr with exit code 1, or 2 for wrong usage", async () => {
  const { t, user } = await running();
  const plain = await command(["api-token", "create", "--name", "plain", "--team", "Acme", "--data", t.directory]);
  expect(plain.stdout).toMatch(/^rka_[0-9A-Za-z]{36}\n$/);
  expect(plain.stderr).toMatch(/^Shown once; its id is atk_\w+ and it works until 2\d{3}-/);
  const list = await command(["api-token", "list", "--data", t.directory]);
  expect(list.stdout.trim().split("\t")).toEqual(expect.arrayContaining(["Acme", "plain", "active", "0"]));
  const cases: [string, number, RegExp][] = [
    ["create --name x", 2, /--team TEAM, or --all-teams/],
    ["create --name x --team Acme --all-teams", 2, /--team TEAM, or --all-teams/],
    ["create --name x --team Nowhere", 1, /no team .*"Nowhere"/],
    [`create --name x --team Acme --user ${user.email}`, 1, /Only owners and admins/],
    [`create --name x --all-teams --user ${user.email}`, 1, /Only operators/],
    ["create --name x --team Acme --expires 400d", 1, /365 days/],
    ["revoke atk_x", 1, /no such API token/],
    ["create --team Acme", 2, /--name/],
    ["create --name x --team Acme --expires soon", 2, /span/],
  ];
  for (const [args, code, reason] of cases) {
    const done = await command(["api-token", ...args.split(" "), "--data", t.directory]);
    expect([args, done.code]).toEqual([args, code]);
    expect(done.stderr).toMatch(reason);
    expect(done.stdout).toBe("");
  }
  expect(t.count("api_tokens")).toBe(1);
});
