import { describe, expect, it } from "vitest";
import { decideAuthorization, listCliTokens, revokeCliToken } from "../../../src/identity/device-flow/device-flow.ts";
import { setDisabled } from "../../../src/identity/sign-in/sign-in.ts";
import { COMMAND_LINE } from "../../../src/platform/audit/audit.ts";
import { answered, cliToken, type Person, person, poll, waiting } from "../../support/cli.ts";
import { startInstance } from "../../support/instance.ts";

const problem = (status: number) => expect.objectContaining({ name: "Problem", status });
const actor = (user: Person) => ({ kind: "user", id: user.id, label: user.email, ip: "192.0.2.1" }) as const;

describe("answering", () => {
  it("records who answered what, from where", async () => {
    const t = await startInstance();
    const user = await person(t);
    const one = await waiting(t, { headers: { "user-agent": "reckon-cli/2.1" } });
    const two = await waiting(t);
    await decideAuthorization(t.instance.core, one.userCode.toLowerCase(), "approved", user, actor(user));
    await decideAuthorization(t.instance.core, two.userCode, "denied", user, actor(user));
    expect(
      t.rows(
        "SELECT action, team_id, actor_id, target_kind, target_id, ip, detail FROM audit_events WHERE action LIKE 'cli%'",
      ),
    ).toEqual([
      {
        action: "cli_authorization.approved",
        team_id: null,
        actor_id: user.id,
        target_kind: "cli_authorization",
        target_id: one.userCode,
        ip: "192.0.2.1",
        detail: '{"channel":null,"ip":"127.0.0.1","userAgent":"reckon-cli/2.1"}',
      },
      expect.objectContaining({ action: "cli_authorization.denied", target_id: two.userCode }),
    ]);
    expect(t.rows("SELECT status, user_id, decided_at FROM device_authorizations ORDER BY status")).toEqual([
      { status: "approved", user_id: user.id, decided_at: t.clock.now() },
      { status: "denied", user_id: user.id, decided_at: t.clock.now() },
    ]);
  });

  it("says of a code whether it is unknown, answered or expired, and changes nothing", async () => {
    const t = await startInstance();
    const { core } = t.instance;
    const user = await person(t);
    const approve = (typed: string) => decideAuthorization(core, typed, "approved", user, COMMAND_LINE);
    const done = await answered(t, "denied", user);
    const late = await waiting(t);
    const rows = () => t.rows("SELECT * FROM device_authorizations ORDER BY created_at, user_code");
    const before = rows();
    const events = t.count("audit_events");
    for (const typed of ["BBBB-BBBB", "", "nonsense", "'; --"])
      await expect(approve(typed)).rejects.toEqual(problem(404));
    await expect(approve(done.userCode)).rejects.toEqual(problem(409));
    t.clock.advance(900_000);
    await expect(approve(late.userCode)).rejects.toEqual(problem(410));
    expect([rows(), t.count("audit_events")]).toEqual([before, events]);
  });

  it("approves for nobody and for no closed account, but denies for both", async () => {
    const t = await startInstance();
    const { core } = t.instance;
    const user = await person(t);
    await setDisabled(core, user.id, true, COMMAND_LINE);
    const { userCode, deviceCode } = await waiting(t);
    await expect(decideAuthorization(core, userCode, "approved", null, COMMAND_LINE)).rejects.toEqual(problem(404));
    await expect(decideAuthorization(core, userCode, "approved", user, COMMAND_LINE)).rejects.toEqual(problem(409));
    expect((await poll(t, deviceCode)).body.error).toBe("authorization_pending");
    await decideAuthorization(core, userCode, "denied", null, COMMAND_LINE);
    expect(t.rows("SELECT status, user_id FROM device_authorizations")).toEqual([{ status: "denied", user_id: null }]);
  });

  it("leaves a code free for another tool once it was answered", async () => {
    const t = await startInstance();
    const { core } = t.instance;
    const old = await answered(t, "denied");
    const { db } = core.store;
    const again = await waiting(t);
    db.prepare("UPDATE device_authorizations SET user_code = ? WHERE user_code = ?").run(old.userCode, again.userCode);
    await decideAuthorization(core, old.userCode, "approved", old.user, COMMAND_LINE);
    expect((await poll(t, old.deviceCode)).body.error).toBe("invalid_grant");
    expect((await poll(t, again.deviceCode)).status).toBe(200);
  });
});

describe("a person's tokens", () => {
  it("are listed newest first, without those that are revoked, expired or another's", async () => {
    const t = await startInstance();
    const { core } = t.instance;
    const [ada, bob] = [await person(t), await person(t)];
    const old = await cliToken(t, ada);
    t.clock.advance(1_000);
    const { deviceCode } = await answered(t, "approved", ada);
    await poll(t, deviceCode, { headers: { "user-agent": "reckon-cli/2.1" } });
    const ofBob = await cliToken(t, bob);
    const listed = listCliTokens(core, ada.id);
    expect(listed.map(({ id }) => id)[1]).toBe(old.id);
    expect(listed[0]).toEqual({
      id: expect.stringMatching(/^cli_/),
      userId: ada.id,
      email: ada.email,
      channel: "npm",
      ip: "127.0.0.1",
      userAgent: "reckon-cli/2.1",
      createdAt: t.clock.now(),
      expiresAt: t.clock.now() + 30 * 86_400_000,
      lastUsedAt: null,
      revokedAt: null,
    });
    expect(listCliTokens(core, null)).toHaveLength(3);
    await revokeCliToken(core, ada.id, listed[0]?.id as string, actor(ada));
    expect(listCliTokens(core, ada.id).map(({ id }) => id)).toEqual([old.id]);
    t.clock.advance(30 * 86_400_000 - 1_000);
    expect(listCliTokens(core, ada.id)).toEqual([]);
    expect(listCliTokens(core, null).map(({ id }) => id)).toEqual([ofBob.id]);
  });

  it("are revoked once, on the record, and by nobody else", async () => {
    const t = await startInstance();
    const { core } = t.instance;
    const [ada, bob] = [await person(t), await person(t)];
    const { id } = await cliToken(t, ada);
    await expect(revokeCliToken(core, bob.id, id, actor(bob))).rejects.toEqual(problem(404));
    await expect(revokeCliToken(core, ada.id, "cli_unknown", actor(ada))).rejects.toEqual(problem(404));
    expect(t.rows("SELECT revoked_at FROM cli_tokens")).toEqual([{ revoked_at: null }]);
    expect(await revokeCliToken(core, ada.id, id, actor(ada))).toBe(true);
    expect(await revokeCliToken(core, null, id, COMMAND_LINE)).toBe(false);
    expect(
      t.rows("SELECT actor_id, target_id, target_label FROM audit_events WHERE action = 'cli_token.revoked'"),
    ).toEqual([{ actor_id: ada.id, target_id: id, target_label: ada.email }]);
  });
});
