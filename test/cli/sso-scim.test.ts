import { expect, it } from "vitest";
import { addIssuer } from "../../src/identity/sso/sso.ts";
import { COMMAND_LINE } from "../../src/platform/audit/audit.ts";
import { startInstance } from "../support/instance.ts";
import { command } from "../support/remote.ts";

it("makes SCIM tokens beside a running server, lists them, and ends them", async () => {
  const t = await startInstance();
  t.clock.jump(Date.now() - t.clock.now());
  await addIssuer(t.instance.core, "acme", { issuer: "https://acme.example", clientId: "reckon" }, COMMAND_LINE);
  const run = (...args: string[]) => command(["sso", "scim", ...args, "--data", t.directory]);
  const json = async (...args: string[]) => JSON.parse((await run(...args, "--json")).stdout);
  const made = await run("acme");
  expect([made.code, made.stdout]).toEqual([0, expect.stringMatching(/^rkp_[0-9A-Za-z]{36}\n$/)]);
  expect(made.stderr).toMatch(/Shown once; its id is stk_\w+\. Tenant URL: http\S+\/scim\/v2\n/);
  const token = made.stdout.trim();
  expect((await t.get("/scim/v2/Users", { token })).status).toBe(200);
  const [one] = await json("acme", "--list");
  expect(one).toEqual({
    id: expect.stringMatching(/^stk_/),
    createdAt: expect.any(String),
    lastUsedAt: expect.any(String),
  });
  expect(await json("acme")).toMatchObject({ token: expect.any(String), url: expect.stringContaining("/scim/v2") });
  expect((await run("acme")).stderr).toContain("revoke one first");
  expect(await json("acme", "--revoke", one.id)).toEqual({ id: one.id, changed: true });
  expect(await json("acme", "--revoke", one.id)).toEqual({ id: one.id, changed: false });
  expect((await t.get("/scim/v2/Users", { token })).status).toBe(401);
  expect((await run("acme", "--list")).stdout).toMatch(/^stk_\w+\t/);
  expect((await run("other")).stderr).toContain("no single sign-on");
  expect(t.rows("SELECT DISTINCT actor_kind, target_kind FROM audit_events WHERE action LIKE 'scim_token.%'")).toEqual([
    { actor_kind: "command", target_kind: "scim_token" },
  ]);
});

it("changes an issuer by what is named alone, and takes its word for addresses back", async () => {
  const t = await startInstance();
  const change = { issuer: "https://acme.example", clientId: "reckon", domains: ["acme.example"], trustEmail: true };
  await addIssuer(t.instance.core, "acme", change, COMMAND_LINE);
  const set = (...args: string[]) => command(["sso", "set", "acme", ...args, "--data", t.directory, "--json"]);
  const changes = () => t.rows("SELECT count(*) AS n FROM audit_events WHERE action = 'sso.changed'")[0].n;
  const nothing = await set();
  expect([nothing.code, nothing.stderr]).toEqual([2, expect.stringContaining("name what to change")]);
  expect(changes()).toBe(0);
  expect(JSON.parse((await set("--no-trust-email")).stdout)).toMatchObject({ trustEmail: false, jit: false });
  expect(changes()).toBe(1);
});
