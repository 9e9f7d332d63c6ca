import { expect, it } from "vitest";
import { setRole } from "../../src/identity/members/members.ts";
import { createInvitation } from "../../src/identity/one-time-links/one-time-links.ts";
import { setOperator } from "../../src/identity/people/people.ts";
import { setDisabled } from "../../src/identity/sign-in/sign-in.ts";
import { type Actor, COMMAND_LINE } from "../../src/platform/audit/audit.ts";
import { makeAccount } from "../support/accounts.ts";
import { freePort } from "../support/free-port.ts";
import { startInstance } from "../support/instance.ts";
import { Jar } from "../support/oidc.ts";

const PASSWORD = "plough-the-north-field";

/** @param proxies who is trusted; requests of the test come from 127.0.0.1 */
async function start(proxies: string, more = {}) {
  const port = String(await freePort());
  const t = await startInstance({
    settings: { port, trustedProxies: proxies, proxySignIn: "X-Forwarded-Email", ...more },
  });
  const url = await t.instance.listen();
  const { core } = t.instance;
  const ada = await makeAccount(core, { email: "ada@example.com" });
  await makeAccount(core, { email: "bob@example.com" });
  await makeAccount(core, { email: "root@example.com", operator: true });
  const ask = (jar: Jar, path: string, email?: string) =>
    jar.ask(url + path, undefined, email === undefined ? {} : { "x-forwarded-email": email });
  return { t, ada, ask, url };
}

it("signs in whom the trusted proxy names, as long as it names them", async () => {
  const { t, ada, ask } = await start("127.0.0.1");
  const jar = new Jar();
  const first = await ask(jar, "/login?next=%2Faccount", "Ada@Example.com");
  expect([first.status, first.headers.get("location")]).toEqual([303, "/account"]);
  expect((await ask(jar, "/account", "ada@example.com")).status).toBe(200);
  expect(t.rows("SELECT user_id, method FROM web_sessions")).toEqual([{ user_id: ada.id, method: "proxy" }]);
  expect(t.rows("SELECT actor_id, ip, detail FROM audit_events WHERE action = 'session.started'")).toEqual([
    { actor_id: ada.id, ip: "127.0.0.1", detail: '{"by":"proxy"}' },
  ]);
  // The proxy now names somebody else, nobody, or two people.
  for (const email of ["bob@example.com", undefined, "ada@example.com, bob@example.com"]) {
    const other = await ask(jar, "/account", email);
    expect([email, other.status, other.headers.get("location")]).toEqual([email, 303, "/login?next=%2Faccount"]);
  }
  await setDisabled(t.instance.core, ada.id, true, COMMAND_LINE);
  expect((await ask(new Jar(), "/login", "ada@example.com")).status).toBe(200);
});

it("signs in nobody without an account, no operator, and nobody who has just signed out", async () => {
  const { t, ask } = await start("127.0.0.1");
  for (const email of ["nobody@example.com", "root@example.com", "", "not an address"])
    expect([email, (await ask(new Jar(), "/login", email)).status]).toEqual([email, 200]);
  expect((await ask(new Jar(), "/login?signed-out=1", "ada@example.com")).status).toBe(200);
  expect(t.count("web_sessions")).toBe(0);
});

it("signs out a person who has become an operator since", async () => {
  const { t, ada, ask } = await start("127.0.0.1");
  const jar = new Jar();
  await ask(jar, "/login", ada.email);
  expect((await ask(jar, "/account", ada.email)).status).toBe(200);
  await setOperator(t.instance.core, ada.id, true, COMMAND_LINE);
  for (const path of ["/account", "/settings/people"]) {
    const reply = await ask(jar, path, ada.email);
    expect([reply.status, reply.headers.get("location")]).toEqual([303, `/login?next=${encodeURIComponent(path)}`]);
  }
});

it("lets nobody into an account whose password somebody else chose by an invitation", async () => {
  const { t, ada, ask, url } = await start("127.0.0.1");
  const { core } = t.instance;
  const team = await t.team();
  await setRole(core, team.id, ada.email, "owner", COMMAND_LINE);
  const accept = async (by: Actor, invited: string | null, email: string, named?: string) => {
    const { token } = await createInvitation(core, { teamId: team.id, role: "member", email: invited }, by, "owner");
    const jar = new Jar();
    const vouched: Record<string, string> = named === undefined ? {} : { "x-forwarded-email": named };
    await jar.ask(`${url}/invitation?token=${token}`, undefined, vouched);
    const opened = await jar.ask(`${url}/invitation`, undefined, vouched);
    const csrf = /name="_csrf" value="([^"]+)"/.exec(await opened.text())?.[1] ?? "";
    const form = { _csrf: csrf, token, email, name: "", password: PASSWORD, again: PASSWORD };
    const answer = await jar.ask(`${url}/invitation`, form, vouched);
    return [answer.status, /The proxy in front/.test(await answer.text())];
  };
  const admin: Actor = { kind: "user", id: ada.id, label: ada.email, ip: null };
  const eve = "eve@example.com";
  expect(await accept(admin, eve, eve, "ada@example.com")).toEqual([403, true]);
  expect(await accept(admin, null, eve, "ada@example.com")).toEqual([403, true]);
  expect(await accept(admin, eve, eve)).toEqual([403, true]);
  expect(t.rows("SELECT 1 FROM users WHERE email = ?", eve)).toEqual([]);
  expect(await accept(admin, eve, eve, "Eve@Example.com")).toEqual([303, false]);
  expect(await accept(COMMAND_LINE, "zoe@example.com", "zoe@example.com", "ada@example.com")).toEqual([303, false]);
  expect((await ask(new Jar(), "/login", eve)).status).toBe(303);
});

it("ignores the header of any other peer", async () => {
  const { t, ask } = await start("198.51.100.0/24");
  const spoofed = await ask(new Jar(), "/login", "ada@example.com");
  expect([spoofed.status, t.count("web_sessions")]).toEqual([200, 0]);
  await expect(startInstance({ settings: { proxySignIn: "X-Forwarded-Email" } })).rejects.toThrow(
    "needs RECKON_TRUSTED_PROXIES",
  );
});
