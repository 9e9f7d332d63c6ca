import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { describe, expect, it, onTestFinished } from "vitest";
import { startAuthorization } from "../../src/identity/device-flow/device-flow.ts";
import { createUser } from "../../src/identity/sign-in/sign-in.ts";
import { COMMAND_LINE } from "../../src/platform/audit/audit.ts";
import { serve } from "../faults/support/process.ts";
import { newFolder } from "../support/folder.ts";
import { startInstance } from "../support/instance.ts";
import { command, commandJson } from "../support/remote.ts";

const json = (data: string, ...args: string[]) => commandJson([...args, "--data", data]);

/** A data directory with somebody in it. */
async function withAda(): Promise<{ data: string; userId: string }> {
  const data = newFolder();
  const t = await startInstance({ directory: data });
  const { id } = await createUser(
    t.instance.core,
    {
      email: "ada@example.com",
      password: "a long enough pass phrase 7!",
    },
    COMMAND_LINE,
  );
  await t.close();
  return { data, userId: id };
}

describe("reckon cli", () => {
  it("answers a tool beside a running server, lists its token and revokes it", async () => {
    const { data, userId } = await withAda();
    const server = await serve(data);
    onTestFinished(async () => void (await server.end()));
    const post = async (path: string, body: object) => {
      const headers = { "content-type": "application/json", "user-agent": "reckon-cli/2.1" };
      const answer = await fetch(server.url + path, { method: "POST", headers, body: JSON.stringify(body) });
      return (await answer.json()) as Record<string, string>;
    };
    const { device_code, user_code } = await post("/api/cli/device/code", { channel: "npm" });
    expect(await json(data, "cli", "list")).toEqual({
      pending: [
        {
          userCode: user_code,
          channel: "npm",
          ip: "127.0.0.1",
          userAgent: "reckon-cli/2.1",
          createdAt: expect.stringMatching(/Z$/),
          expiresAt: expect.stringMatching(/Z$/),
        },
      ],
      tokens: [],
    });
    const typed = (user_code as string).toLowerCase().replace("-", "");
    expect(await json(data, "cli", "approve", typed, "--user", "ADA@example.com")).toEqual({
      ok: true,
      userCode: user_code,
      decision: "approved",
      userId,
      email: "ada@example.com",
    });
    const { access_token } = await post("/api/cli/device/token", { device_code });
    const me = () => fetch(`${server.url}/api/cli/me`, { headers: { authorization: `Bearer ${access_token}` } });
    expect(await (await me()).json()).toEqual({ userId, email: "ada@example.com" });
    const { pending, tokens } = await json(data, "cli", "list", "--user", "ada@example.com");
    expect([pending, tokens]).toEqual([
      [],
      [expect.objectContaining({ id: expect.stringMatching(/^cli_/), email: "ada@example.com", channel: "npm" })],
    ]);
    expect(JSON.stringify(tokens)).not.toContain(access_token);
    expect(await json(data, "cli", "revoke", tokens[0].id)).toEqual({
      id: tokens[0].id,
      status: "revoked",
      changed: true,
    });
    expect((await me()).status).toBe(401);
    expect(await json(data, "cli", "revoke", tokens[0].id)).toMatchObject({ changed: false });
    const db = new Sqlite(join(data, "reckon.db"), { readonly: true });
    onTestFinished(() => void db.close());
    expect(
      db.prepare("SELECT action, actor_kind, actor_label FROM audit_events WHERE action LIKE 'cli%' ORDER BY id").all(),
    ).toEqual([
      { action: "cli_authorization.approved", actor_kind: "command", actor_label: "command line" },
      { action: "cli_token.created", actor_kind: "user", actor_label: "ada@example.com" },
      { action: "cli_token.revoked", actor_kind: "command", actor_label: "command line" },
    ]);
  });

  it("denies without naming anybody, and answers no code twice", async () => {
    const { data } = await withAda();
    const t = await startInstance({ directory: data });
    // The commands read the system's clock.
    t.clock.jump(Date.now() - t.clock.now());
    const { userCode } = await startAuthorization(t.instance.core, { channel: null, ip: "::1", userAgent: null });
    expect(await json(data, "cli", "deny", userCode)).toEqual({ ok: true, userCode, decision: "denied" });
    const again = await command(["cli", "approve", userCode, "--user", "ada@example.com", "--data", data]);
    expect([again.code, again.stdout, again.stderr]).toEqual([1, "", "reckon: This code was answered before.\n"]);
  });

  it("fails with a clear line for unknown codes, people and tokens, and with usage for a missing name", async () => {
    const { data } = await withAda();
    const run = async (...args: string[]) => {
      const { code, stderr } = await command(["cli", ...args, "--data", data]);
      return [code, stderr];
    };
    expect(await run("approve", "BBBB-BBBB", "--user", "ada@example.com")).toEqual([
      1,
      expect.stringContaining("No tool waits"),
    ]);
    expect(await run("approve", "BBBB-BBBB", "--user", "bob@example.com")).toEqual([
      1,
      expect.stringContaining("bob@example.com"),
    ]);
    expect(await run("revoke", "cli_unknown")).toEqual([1, expect.stringContaining("cli_unknown")]);
    expect(await run("approve", "BBBB-BBBB")).toEqual([2, expect.stringContaining("--user")]);
  });
});
