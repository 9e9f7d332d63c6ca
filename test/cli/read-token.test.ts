import { describe, expect, it } from "vitest";
import { startInstance } from "../support/instance.ts";
import { memberOf, publish } from "../support/reads.ts";
import { command, commandJson } from "../support/remote.ts";

const json = (data: string, ...args: string[]) => commandJson(["read-token", ...args, "--data", data]);

/** An instance with a person in one team; its clock is the real one's, as the commands' is. */
async function running() {
  const t = await startInstance();
  t.clock.jump(Date.now() - t.clock.now());
  const device = await t.device(await t.team({ name: "Acme" }));
  await publish(t, device, { "errors.md": "# Cookie\n\nerror", "docs/guide.md": "cookie guide" }, { repoKey: "shop" });
  return { t, device, user: await memberOf(t, device.team) };
}

describe("read tokens from the command line", () => {
  it("are made, used, listed and revoked beside a running server", async () => {
    const { t, device, user } = await running();
    const made = await json(
      t.directory,
      ..."create --user".split(" "),
      user.email.toUpperCase(),
      ..."--name helper --team Acme --repo shop --repo api --path docs/** --kind note --expires 12h".split(" "),
    );
    expect(made).toEqual({
      id: expect.stringMatching(/^rtk_/),
      token: expect.stringMatching(/^rkr_/),
      scope: { teams: [device.team.id], repos: ["shop", "api"], paths: ["docs/**"], kinds: ["note"] },
      expiresAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
    });
    const lifetime = Date.parse(made.expiresAt) - Date.now();
    expect(lifetime / 3_600_000).toBeGreaterThan(11.9);
    expect(lifetime / 3_600_000).toBeLessThanOrEqual(12);
    const read = () => t.get("/api/me/brain/context?q=cookie", { token: made.token });
    expect((await read()).body.hits.map((hit: { filePath: string }) => hit.filePath)).toEqual(["docs/guide.md"]);
    const listed = [
      expect.objectContaining({ id: made.id, user: user.email, name: "helper", status: "active", readsToday: 1 }),
    ];
    expect(await json(t.directory, "list")).toEqual(listed);
    expect(await json(t.directory, "list", "--user", user.email)).toEqual(listed);
    expect(await json(t.directory, "list", "--user", (await memberOf(t)).email)).toEqual([]);
    expect(await json(t.directory, "revoke", made.id)).toEqual({ id: made.id, status: "revoked", changed: true });
    expect(await json(t.directory, "revoke", made.id)).toMatchObject({ changed: false });
    expect((await read()).status).toBe(401);
    expect(t.rows("SELECT actor_kind, action FROM audit_events WHERE target_id = ? ORDER BY id", made.id)).toEqual([
      { actor_kind: "command", action: "read_token.created" },
      { actor_kind: "command", action: "read_token.revoked" },
    ]);
  });

  it("print the token alone, and what it is and when it ends beside it", async () => {
    const { t, user } = await running();
    const done = await command([
      "read-token",
      "create",
      "--user",
      user.email,
      "--name",
      "plain",
      "--data",
      t.directory,
    ]);
    expect(done.stdout).toMatch(/^rkr_[0-9A-Za-z]{36}\n$/);
    expect(done.stderr).toMatch(/^Shown once; its id is rtk_\w+ and it works until 2\d{3}-/);
    const list = await command(["read-token", "list", "--data", t.directory]);
    expect(list.stdout.trim().split("\t")).toEqual(
      expect.arrayContaining([user.email, "plain", "active", "everything"]),
    );
  });

  it("say what is wrong on stderr and exit 1, or 2 for wrong usage", async () => {
    const { t, user } = await running();
    const create = ["create", "--user", user.email, "--name", "x"];
    const other = await t.team();
    const cases: [string[], number, RegExp][] = [
      [["create", "--user", "nobody@example.com", "--name", "x"], 1, /no account for "nobody@example.com"/],
      [[...create, "--team", "Nowhere"], 1, /no team .*"Nowhere"/],
      [[...create, "--team", other.name], 1, /not in the team/],
      [[...create, "--path", "/etc/**"], 1, /relative to the repository/],
      [[...create, "--expires", "400d"], 1, /365 days/],
      [["revoke", "rtk_x"], 1, /no such read token/],
      [[...create, "--kind", "gossip"], 2, /error, security/],
      [["create", "--user", user.email], 2, /--name/],
    ];
    for (const [args, code, reason] of cases) {
      const done = await command(["read-token", ...args, "--data", t.directory]);
      expect([args.join(" "), done.code]).toEqual([args.join(" "), code]);
      expect(done.stderr).toMatch(reason);
      expect(done.stdout).toBe("");
    }
    expect(t.count("read_tokens")).toBe(0);
  });
});
