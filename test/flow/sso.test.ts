import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { describe, expect, it } from "vitest";
import type { Core } from "../../src/core.ts";
import { createApiToken } from "../../src/identity/api-tokens/api-tokens.ts";
import { createCliToken, decideAuthorization, startAuthorization } from "../../src/identity/device-flow/device-flow.ts";
import { redeemDeviceCode } from "../../src/identity/device-flow/redeem.ts";
import { createScimToken } from "../../src/identity/directory/directory.ts";
import { removeMember, setRole } from "../../src/identity/members/members.ts";
import {
  createInvitation,
  createResetLink,
  getLink,
  LINK_LIFETIME_MS,
  revokeInvitation,
} from "../../src/identity/one-time-links/one-time-links.ts";
import { setOperator } from "../../src/identity/people/people.ts";
import { createReadToken } from "../../src/identity/read-tokens/read-tokens.ts";
import {
  acceptAsNew,
  createUser,
  signIn as passwordSignIn,
  setDisabled,
  setPassword,
} from "../../src/identity/sign-in/sign-in.ts";
import {
  acceptVouched,
  addIssuer,
  changeIssuer,
  getIssuer,
  type IssuerChange,
  linkVouched,
  removeIssuer,
  unlink,
  waysIn,
} from "../../src/identity/sso/sso.ts";
import { setSecondFactorDemanded } from "../../src/identity/teams/teams.ts";
import { storeSession } from "../../src/identity/web-sessions/web-sessions.ts";
import { MINUTE_MS } from "../../src/kit/clock.ts";
import { COMMAND_LINE } from "../../src/platform/audit/audit.ts";
import { makeAccount } from "../support/accounts.ts";
import { ask, somebody } from "../support/every-page.ts";
import { freePort } from "../support/free-port.ts";
import { startInstance, type TestInstance } from "../support/instance.ts";
import { CLIENT, type Forgery, Jar, startForger, startIssuer, type TestIssuer } from "../support/oidc.ts";
import { WITHOUT_BLOCKS } from "../support/older.ts";

/** Single sign-on with a real issuer on loopback, and with one that lies. */

const ADA = { email: "ada@acme.example", email_verified: true, name: "Ada Lovelace", groups: ["engineers"] };

interface Site {
  readonly t: TestInstance;
  readonly url: string;
}

/** @param port which issuers can be told of before the server is there */
async function startSite(issuers: readonly TestIssuer[], port: number, settings = {}): Promise<Site> {
  const outbound = [...issuers.map(({ host }) => host), "+private"].join(",");
  const t = await startInstance({ settings: { port: String(port), outbound, ...settings } });
  return { t, url: await t.instance.listen() };
}

const acme = (issuer: TestIssuer, change: IssuerChange = {}): IssuerChange => ({
  issuer: issuer.url,
  clientId: CLIENT.id,
  clientSecret: CLIENT.secret,
  label: "Acme",
  domains: ["acme.example"],
  jit: true,
  ...change,
});

async function withIssuer(change: (team: string) => IssuerChange = () => ({}), more = {}) {
  const port = await freePort();
  const issuer = await startIssuer([`http://127.0.0.1:${port}/sso/acme/callback`], more);
  const site = await startSite([issuer], port);
  const team = await site.t.team({ name: "Engines" });
  await addIssuer(
    site.t.instance.core,
    "acme",
    acme(issuer, { groups: ["engineers=Engines:member"], ...change(team.id) }),
    COMMAND_LINE,
  );
  issuer.people.set("s-ada", ADA);
  issuer.subject = "s-ada";
  return { ...site, issuer, team };
}

const signIn = ({ url }: Site, name = "acme", jar = new Jar()) => jar.go(`${url}/sso/${name}?next=%2Fsessions`);
const roles = ({ t }: Site) =>
  t.rows(
    "SELECT email, role, source IS NOT NULL AS bySso FROM memberships JOIN users ON users.id = user_id ORDER BY email, role",
  );
const refusals = ({ t }: Site) => t.rows("SELECT detail FROM audit_events WHERE action = 'session.refused'");

describe("signing in by an issuer", () => {
  it("makes an account at first, puts it into the team of its group, and goes on to where it was headed", async () => {
    const site = await withIssuer();
    const login = await new Jar().go(`${site.url}/login?next=%2Fsessions`);
    expect(login.text).toContain("Continue with Acme");
    const jar = new Jar();
    const end = await signIn(site, "acme", jar);
    expect([end.status, end.url]).toEqual([200, `${site.url}/sessions`]);
    expect(roles(site)).toEqual([{ email: "ada@acme.example", role: "member", bySso: 1 }]);
    expect(site.t.rows("SELECT name, password_hash, operator FROM users")).toEqual([
      { name: "Ada Lovelace", password_hash: null, operator: 0 },
    ]);
    expect(site.t.rows("SELECT method, ended_at, expires_at - created_at AS span FROM web_sessions")).toEqual([
      { method: "acme", ended_at: null, span: 24 * 60 * MINUTE_MS },
    ]);
    // The second sign-in makes nothing, whatever address the issuer tells by then.
    site.issuer.people.set("s-ada", { ...ADA, email: "countess@other.example", email_verified: false });
    expect((await signIn(site)).status).toBe(200);
    expect([site.t.count("users"), site.t.count("sso_identities")]).toEqual([1, 1]);
    const { text } = await jar.go(`${site.url}/account`);
    expect(text).toContain("by acme");
    // A second factor that the team demands is left to the issuer.
    const { core } = site.t.instance;
    await setSecondFactorDemanded(core, site.team.id, true, COMMAND_LINE);
    expect((await jar.go(`${site.url}/sessions`)).url).toBe(`${site.url}/sessions`);
    // The subjects of another issuer would be other people, so its address cannot be changed.
    const another = changeIssuer(core, "acme", { issuer: "https://id.other.example" }, COMMAND_LINE);
    await expect(another).rejects.toMatchObject({ status: 409 });
    expect(getIssuer(core, "acme").issuer).toBe(site.issuer.url);
  });

  it("follows the groups at each sign-in: higher, lower, gone, and never what a person gave", async () => {
    const site = await withIssuer();
    const { core } = site.t.instance;
    const guests = await site.t.team({ name: "Guests" });
    const other = await site.t.team({ name: "Other" });
    await changeIssuer(
      core,
      "acme",
      {
        groups: ["engineers=Engines:member", "leads=Engines:admin", "others=Other:member", `*=${guests.id}:member`],
      },
      COMMAND_LINE,
    );
    const jar = new Jar();
    const become = async (...groups: string[]) => {
      site.issuer.people.set("s-ada", { ...ADA, groups });
      expect((await signIn(site, "acme", jar)).status).toBe(200);
      return site.t
        .rows("SELECT name, role FROM memberships JOIN teams ON teams.id = team_id ORDER BY name")
        .map(({ name, role }) => `${name}:${role}`);
    };
    expect(await become("engineers", "leads")).toEqual(["Engines:admin", "Guests:member"]);
    expect(await become("engineers")).toEqual(["Engines:member", "Guests:member"]);
    await setRole(core, other.id, "ada@acme.example", "owner", COMMAND_LINE);
    // Nor is it lowered by groups that would give less.
    expect(await become("others")).toEqual(["Guests:member", "Other:owner"]);
    expect(await become()).toEqual(["Guests:member", "Other:owner"]);
    // A role that groups gave can be neither changed nor taken away by hand.
    const [{ id: ada }] = site.t.rows("SELECT id FROM users");
    await expect(setRole(core, guests.id, "ada@acme.example", "owner", COMMAND_LINE)).rejects.toThrow(
      "change their groups",
    );
    await expect(removeMember(core, guests.id, ada, COMMAND_LINE)).rejects.toThrow("change their groups");
    const page = await jar.go(`${site.url}/sessions`);
    expect(page.text).not.toContain("Engines");
    expect(
      site.t
        .rows("SELECT action FROM audit_events WHERE action LIKE 'member.%' ORDER BY id")
        .map(({ action }) => action),
    ).toEqual(["member.added", "member.added", "member.role_changed", "member.added", "member.removed"]);
  });

  it("asks the issuer for what the token leaves out", async () => {
    const site = await withIssuer(() => ({}), { tokenClaims: false });
    expect((await signIn(site)).status).toBe(200);
    expect(site.issuer.asked).toContain("/me");
    expect(roles(site)).toEqual([{ email: "ada@acme.example", role: "member", bySso: 1 }]);
  });

  it.each([
    ["no group has a team", { ...ADA, groups: ["others"] }, {}, "no group that has a team"],
    [
      "the address is not verified",
      { ...ADA, email_verified: false },
      {},
      "does not say that ada@acme.example is verified",
    ],
    ["the domain is not listed", { ...ADA, email: "ada@else.example" }, {}, "addresses of else.example"],
    ["there is no address", { groups: ["engineers"] }, {}, "did not tell your e-mail address"],
    ["accounts are not made", ADA, { jit: false }, "There is no account for ada@acme.example here"],
  ])("lets nobody in where %s", async (_, claims, change, text) => {
    const site = await withIssuer(() => change);
    site.issuer.people.set("s-ada", claims);
    const end = await signIn(site);
    expect([end.status, new URL(end.url).pathname]).toEqual([403, "/sso/acme/callback"]);
    expect(end.text).toContain(text);
    expect(end.text).toContain("Back to sign-in");
    expect([site.t.count("users"), site.t.count("web_sessions")]).toEqual([0, 0]);
    expect(refusals(site)).toHaveLength(1);
  });

  it("links an account that is there by a verified address of a listed domain, and never an operator's", async () => {
    const site = await withIssuer(() => ({ jit: false }));
    const { core } = site.t.instance;
    const ada = await makeAccount(core, { email: "Ada@Acme.example" });
    await makeAccount(core, { email: "root@acme.example", operator: true });
    // An address that is not said to be verified may be anybody's.
    const { email_verified: _, ...unsaid } = ADA;
    site.issuer.people.set("s-ada", unsaid);
    expect([(await signIn(site)).status, site.t.count("sso_identities")]).toEqual([403, 0]);
    site.issuer.people.set("s-ada", ADA);
    expect((await signIn(site)).status).toBe(200);
    expect(site.t.rows("SELECT user_id FROM sso_identities")).toEqual([{ user_id: ada.id }]);
    site.issuer.people.set("s-root", { ...ADA, email: "root@acme.example" });
    site.issuer.subject = "s-root";
    const refused = await signIn(site);
    expect([refused.status, refused.text.includes("Your account")]).toEqual([403, true]);
    expect(site.t.count("sso_identities")).toBe(1);
    // A closed account stays closed.
    await setDisabled(core, ada.id, true, COMMAND_LINE);
    site.issuer.subject = "s-ada";
    const closed = await signIn(site);
    expect([closed.status, closed.text.includes("closed")]).toEqual([403, true]);
    // So does one that was never linked; it keeps its password for when it is open again.
    const grace = await makeAccount(core, { email: "grace@acme.example" });
    await setDisabled(core, grace.id, true, COMMAND_LINE);
    site.issuer.people.set("s-grace", { ...ADA, email: "grace@acme.example" });
    site.issuer.subject = "s-grace";
    expect((await signIn(site)).status).toBe(403);
    await setDisabled(core, grace.id, false, COMMAND_LINE);
    // Nobody links an identity to their account that belongs to another account.
    const hers = { subject: "s-ada", email: null, emailVerified: null, name: null, groups: [] };
    await expect(linkVouched(core, getIssuer(core, "acme"), hers, grace.id, COMMAND_LINE)).rejects.toMatchObject({
      status: 403,
    });
    expect(site.t.rows("SELECT user_id FROM sso_identities")).toEqual([{ user_id: ada.id }]);
    expect(site.t.rows("SELECT password_hash IS NULL AS gone FROM users WHERE id = ?", grace.id)).toEqual([
      { gone: 0 },
    ]);
  });

  it("links nobody whose session ended while the issuer was asked, as by a new password", async () => {
    const site = await withIssuer();
    const { core } = site.t.instance;
    const { id } = await makeAccount(core, { email: ADA.email });
    await passwordSignIn(core, ADA.email, "plough-the-north-field", { ip: "192.0.2.7", userAgent: null });
    const [session] = site.t.rows("SELECT id FROM web_sessions");
    await setPassword(core, id, "another-north-field", COMMAND_LINE);
    const mallory = { subject: "s-mallory", email: null, emailVerified: null, name: null, groups: [] };
    const linked = linkVouched(core, getIssuer(core, "acme"), mallory, id, COMMAND_LINE, session.id);
    await expect(linked).rejects.toMatchObject({ status: 401 });
    expect(site.t.count("sso_identities")).toBe(0);
  });

  it("ends all other ways into an account that is linked by its address", async () => {
    const site = await withIssuer();
    const { core } = site.t.instance;
    // Made before the domain was listed, by somebody who held an invitation, or by an admin.
    const chosen = { email: ADA.email, password: "plough-the-north-field" };
    const { id } = await createUser(core, chosen, COMMAND_LINE);
    const other = new Jar();
    const signInByPassword = async () => {
      const { text } = await other.go(`${site.url}/login`);
      const csrf = /name="_csrf" value="([^"]+)"/.exec(text)?.[1] ?? "";
      return other.ask(`${site.url}/login`, { _csrf: csrf, ...chosen });
    };
    await signInByPassword();
    expect((await other.go(`${site.url}/account`)).url).toBe(`${site.url}/account`);
    await createReadToken(core, { userId: id, name: "mine" }, COMMAND_LINE);
    await createCliToken(core, { id, email: ADA.email }, COMMAND_LINE);
    await setRole(core, site.team.id, id, "admin", COMMAND_LINE);
    const { token } = await createApiToken(core, { teamId: site.team.id, userId: id, name: "mine" }, COMMAND_LINE);
    const read = () => site.t.call("GET", "/api/sessions", { token });
    expect((await read()).status).toBe(200);
    const mallory = { subject: "s-mallory", email: null, emailVerified: null, name: null, groups: [] };
    await addIssuer(core, "other", { ...acme(site.issuer), issuer: "https://id.other.example" }, COMMAND_LINE);
    await linkVouched(core, getIssuer(core, "other"), mallory, id, COMMAND_LINE);
    const reset = await createResetLink(core, id, COMMAND_LINE);
    const tool = await startAuthorization(core, { channel: null, ip: "192.0.2.7", userAgent: null });
    await decideAuthorization(core, tool.userCode, "approved", { id, email: ADA.email }, COMMAND_LINE);
    core.store.db
      .prepare(
        "INSERT INTO second_factors (id, user_id, kind, name, secret, created_at) VALUES ('f', ?, 'totp', 'f', x'00', 1)",
      )
      .run(id);

    const jar = new Jar();
    expect((await signIn(site, "acme", jar)).url).toBe(`${site.url}/sessions`);
    expect(site.t.rows("SELECT user_id, subject FROM sso_identities")).toEqual([{ user_id: id, subject: "s-ada" }]);
    expect((await other.go(`${site.url}/account`)).url).toContain("/login");
    await signInByPassword();
    expect((await other.go(`${site.url}/account`)).url).toContain("/login");
    expect(site.t.rows("SELECT password_hash FROM users")).toEqual([{ password_hash: null }]);
    expect(site.t.count("read_tokens WHERE revoked_at IS NULL")).toBe(0);
    expect(site.t.count("cli_tokens WHERE revoked_at IS NULL")).toBe(0);
    expect((await read()).status).toBe(401);
    expect(() => getLink(core, reset.token, "reset")).toThrow("taken back");
    const redeemed = redeemDeviceCode(core, tool.deviceCode, { ip: "192.0.2.7", userAgent: null });
    await expect(redeemed).rejects.toMatchObject({ status: 400 });
    expect([site.t.count("second_factors"), site.t.count("cli_tokens")]).toEqual([0, 1]);
    // From then on it is hers: a password that she chooses stays.
    await setPassword(core, id, "another-north-field", COMMAND_LINE);
    expect((await signIn(site)).status).toBe(200);
    expect(site.t.rows("SELECT password_hash FROM users")).not.toEqual([{ password_hash: null }]);
  });

  it("takes from an account that is linked by its address what somebody else's groups gave it", async () => {
    const site = await withIssuer();
    const { core } = site.t.instance;
    const { id } = await makeAccount(core, { email: ADA.email });
    const other = { ...acme(site.issuer), issuer: "https://id.other.example", domains: ["other.example"] };
    await addIssuer(core, "other", { ...other, groups: ["leads=Engines:admin"] }, COMMAND_LINE);
    const mallory = { subject: "s-mallory", email: null, emailVerified: null, name: null, groups: ["leads"] };
    await linkVouched(core, getIssuer(core, "other"), mallory, id, COMMAND_LINE);
    expect(roles(site)).toEqual([{ email: ADA.email, role: "admin", bySso: 1 }]);
    // Nobody could have changed that role any more, and no sign-in or removal of that issuer would have.
    expect((await signIn(site)).status).toBe(200);
    expect(roles(site)).toEqual([{ email: ADA.email, role: "member", bySso: 1 }]);
    await removeIssuer(core, "acme", COMMAND_LINE);
    expect(roles(site)).toEqual([]);
  });

  it("refuses a new subject the account of another one with the same address, until that one is unlinked", async () => {
    const site = await withIssuer();
    const { core } = site.t.instance;
    expect((await signIn(site)).status).toBe(200);
    const ada = site.t.rows("SELECT id FROM users")[0]?.id;
    const former = { subject: "s-ada", user_id: ada };
    await setRole(core, (await site.t.team({ name: "Payroll" })).id, ada, "owner", COMMAND_LINE);
    await createReadToken(core, { userId: ada, name: "hers" }, COMMAND_LINE);
    site.issuer.people.set("s-ada-the-second", { ...ADA, name: "Another Ada" });
    site.issuer.subject = "s-ada-the-second";
    const refused = await signIn(site);
    expect([refused.status, refused.text.includes("reckon sso unlink ada@acme.example")]).toEqual([403, true]);
    expect(site.t.rows("SELECT subject, user_id FROM sso_identities")).toEqual([former]);
    expect(refusals(site)).toHaveLength(1);

    const root = await somebody(site.t, undefined, "member", true);
    const page = `/settings/people/${ada}`;
    expect((await ask(site.t, "GET", page, { as: root })).text).toContain("Leave this account, with its teams");
    expect((await ask(site.t, "POST", `${page}/unlink`, { as: root, form: { _csrf: root.csrf } })).status).toBe(303);
    expect(site.t.rows("SELECT target_id FROM audit_events WHERE action = 'sso.unlinked'")).toEqual([
      { target_id: ada },
    ]);
    expect((await signIn(site)).status).toBe(200);
    expect(site.t.rows("SELECT subject, user_id FROM sso_identities")).toEqual([
      { ...former, subject: "s-ada-the-second" },
    ]);
    expect(site.t.count("read_tokens WHERE revoked_at IS NULL")).toBe(0);
    expect(site.t.count(`web_sessions WHERE ended_at IS NULL AND user_id = '${ada}'`)).toBe(1);
    await setOperator(core, ada, true, COMMAND_LINE);
    await expect(waysIn.release(core, ADA.email, COMMAND_LINE)).rejects.toThrow("runs this installation");
  });

  it.each([
    [
      "has a password since",
      async (core: Core, id: string) => setPassword(core, id, "another-north-field", COMMAND_LINE),
    ],
    [
      "ended that link",
      async (core: Core, id: string) => {
        await setPassword(core, id, "another-north-field", COMMAND_LINE);
        await unlink(core, id, getIssuer(core, "acme").id, COMMAND_LINE);
      },
    ],
    [
      "was provisioned by the address since",
      async (core: Core, id: string) => {
        await setPassword(core, id, "another-north-field", COMMAND_LINE);
        const { token } = await createScimToken(core, getIssuer(core, "acme"), COMMAND_LINE);
        return { token };
      },
    ],
  ])("refuses a new subject the account of an earlier one with its address, who %s", async (_, happens) => {
    const site = await withIssuer();
    const { core } = site.t.instance;
    const jar = new Jar();
    await signIn(site, "acme", jar);
    const id = site.t.rows("SELECT id FROM users")[0]?.id;
    const more = await happens(core, id);
    if (more)
      expect((await site.t.post("/scim/v2/Users", { ...more, json: { userName: ADA.email } })).status).toBe(201);
    const stored = () => site.t.rows("SELECT password_hash FROM users");
    const [before, links] = [stored(), site.t.rows("SELECT * FROM sso_identities")];
    site.issuer.people.set("s-ada-the-second", ADA);
    site.issuer.subject = "s-ada-the-second";
    const refused = await signIn(site);
    expect([refused.status, refused.text.includes("reckon sso unlink ada@acme.example")]).toEqual([403, true]);
    expect([stored(), site.t.rows("SELECT * FROM sso_identities")]).toEqual([before, links]);
    // The person whose account it is still reaches it.
    site.issuer.subject = "s-ada";
    expect((await signIn(site)).status).toBe(200);
    expect(site.t.rows("SELECT user_id, subject FROM sso_identities")).toEqual([{ user_id: id, subject: "s-ada" }]);
  });

  it("knows from an older database who was linked, and lets another issuer in its place link anew", async () => {
    const t = await startInstance();
    const { core } = t.instance;
    const change = { issuer: "https://id.acme.example", clientId: "reckon", domains: ["acme.example"] };
    await addIssuer(core, "acme", change, COMMAND_LINE);
    const { id } = await createUser(core, { email: ADA.email, password: "plough-the-north-field" }, COMMAND_LINE);
    const comes = ({ instance: { core } }: TestInstance, subject: string) =>
      acceptVouched(
        core,
        getIssuer(core, "acme"),
        { subject, email: ADA.email, emailVerified: true, name: null, groups: [] },
        { ip: "192.0.2.7", userAgent: null },
      );
    await comes(t, "s-ada");
    await setPassword(core, id, "another-north-field", COMMAND_LINE);
    await t.close();
    const db = new Sqlite(join(t.directory, "reckon.db"));
    db.exec(`${WITHOUT_BLOCKS} DROP TABLE sso_holders; PRAGMA user_version = 42;`);
    db.close();
    const newer = await startInstance({ directory: t.directory });
    const { core: later } = newer.instance;
    await unlink(later, id, getIssuer(later, "acme").id, COMMAND_LINE);
    await expect(comes(newer, "s-ada-the-second")).rejects.toMatchObject({ status: 403 });
    // The new issuer's subjects are its own.
    await changeIssuer(later, "acme", { issuer: "https://id.moved.example" }, COMMAND_LINE);
    await comes(newer, "s-ada-the-second");
    expect(newer.rows("SELECT user_id, subject FROM sso_identities")).toEqual([
      { user_id: id, subject: "s-ada-the-second" },
    ]);
  });

  it("finds a provisioned account, although the token says nothing of the address", async () => {
    const site = await withIssuer(() => ({ jit: false }));
    const { core } = site.t.instance;
    const { token } = await createScimToken(core, getIssuer(core, "acme"), COMMAND_LINE);
    const json = { userName: "ada@acme.example", displayName: "Ada" };
    const made = await site.t.post("/scim/v2/Users", { token, json });
    expect(made.status).toBe(201);
    await site.t.post("/scim/v2/Groups", {
      token,
      json: { displayName: "engineers", members: [{ value: made.body.id }] },
    });
    // An address that the issuer itself calls unverified leads nobody to an account.
    site.issuer.people.set("s-other", { email: "ada@acme.example", email_verified: false, groups: [] });
    site.issuer.subject = "s-other";
    expect([(await signIn(site)).status, site.t.count("sso_identities")]).toEqual([403, 0]);
    site.issuer.people.set("s-ada", { email: "ada@acme.example", groups: [] });
    site.issuer.subject = "s-ada";
    const jar = new Jar();
    expect((await signIn(site, "acme", jar)).url).toBe(`${site.url}/sessions`);
    expect(roles(site)).toEqual([{ email: "ada@acme.example", role: "member", bySso: 1 }]);
    // What the directory says of an account stays with it, whoever signs in to it.
    await waysIn.release(core, "ada@acme.example", COMMAND_LINE);
    expect(site.t.count("sso_identities")).toBe(0);
    expect(roles(site)).toEqual([{ email: "ada@acme.example", role: "member", bySso: 1 }]);
    expect((await signIn(site, "acme", jar)).url).toBe(`${site.url}/sessions`);
    const off = { Operations: [{ op: "Replace", path: "active", value: "False" }] };
    expect((await site.t.call("PATCH", `/scim/v2/Users/${made.body.id}`, { token, json: off })).status).toBe(200);
    expect(new URL((await jar.go(`${site.url}/sessions`)).url).pathname).toBe("/login");
    const refused = await signIn(site);
    expect([refused.status, refused.text.includes("closed")]).toEqual([403, true]);
  });

  it("lets an operator link their account by hand, and sign in by password while the issuer is down", async () => {
    const site = await withIssuer();
    const { core } = site.t.instance;
    await makeAccount(core, { email: "root@acme.example", operator: true });
    const jar = new Jar();
    const csrf = (text: string) => /name="_csrf" value="([^"]+)"/.exec(text)?.[1] ?? "";
    const login = await jar.go(`${site.url}/login`);
    const post = (path: string, text: string, form: Record<string, string>) =>
      jar.ask(site.url + path, { _csrf: csrf(text), ...form });
    await post("/login", login.text, { email: "root@acme.example", password: "plough-the-north-field" });
    const account = await jar.go(`${site.url}/account`);
    const id = /<option value="(sso_[^"]+)"/.exec(account.text)?.[1] ?? "";
    const wrong = await post("/account/sso/link", account.text, { issuer: id, current: "wrong" });
    expect([wrong.status, site.t.count("sso_identities")]).toEqual([403, 0]);
    const step = await (
      await post("/account/sso/link", account.text, { issuer: id, current: "plough-the-north-field" })
    ).text();
    const onward = (/href="([^"]+\/auth\?[^"]+)"/.exec(step)?.[1] ?? "").replaceAll("&amp;", "&");
    site.issuer.subject = "s-root";
    site.issuer.people.set("s-root", { ...ADA, email: "someone@else.example", groups: [] });
    const back = await jar.go(onward);
    expect([back.status, new URL(back.url).pathname]).toEqual([200, "/account"]);
    expect(site.t.rows("SELECT subject FROM sso_identities")).toEqual([{ subject: "s-root" }]);
    // Signed in, although the operator is in no team yet.
    expect((await signIn(site)).url).toBe(`${site.url}/sessions`);

    await site.issuer.close();
    site.t.clock.advance(6 * MINUTE_MS);
    const down = await signIn(site);
    expect([down.status, down.text.includes("Operators can sign in with their password")]).toEqual([502, true]);
    const again = new Jar();
    const form = await again.go(`${site.url}/login`);
    const answer = await again.ask(`${site.url}/login`, {
      _csrf: csrf(form.text),
      email: "root@acme.example",
      password: "plough-the-north-field",
    });
    expect([answer.status, answer.headers.get("location")]).toEqual([303, "/overview"]);
  });

  it("allows passwords to operators alone where the setting says so", async () => {
    const port = await freePort();
    const site = await startSite([], port, { passwords: "operators" });
    const { core } = site.t.instance;
    await makeAccount(core, { email: "root@acme.example", operator: true });
    await makeAccount(core, { email: "ada@acme.example" });
    const by = async (email: string, password = "plough-the-north-field") => {
      const jar = new Jar();
      const { text } = await jar.go(`${site.url}/login`);
      const answer = await jar.ask(`${site.url}/login`, {
        _csrf: /name="_csrf" value="([^"]+)"/.exec(text)?.[1] ?? "",
        email,
        password,
      });
      return answer.status;
    };
    expect([
      await by("root@acme.example"),
      await by("ada@acme.example"),
      await by("ada@acme.example", "wrong"),
    ]).toEqual([303, 403, 401]);
    expect(site.t.count("web_sessions")).toBe(1);
  });

  it("stays linked to its last issuer where a password is no way in", async () => {
    const site = await withIssuer();
    const { core } = site.t.instance;
    const { id } = await makeAccount(core, { email: ADA.email });
    await signIn(site);
    await setPassword(core, id, "another-north-field", COMMAND_LINE);
    const issuer = getIssuer(core, "acme").id;
    const config = { ...core.config, passwords: "operators" } as const;
    await expect(unlink({ ...core, config }, id, issuer, COMMAND_LINE)).rejects.toMatchObject({ status: 403 });
    expect(site.t.count("sso_identities")).toBe(1);
    await unlink(core, id, issuer, COMMAND_LINE);
    expect(site.t.count("sso_identities")).toBe(0);
  });

  it("ends the sessions that a person began by the issuer whose link ends, and no others", async () => {
    const site = await withIssuer();
    const { core } = site.t.instance;
    const { id } = await makeAccount(core, { email: ADA.email });
    const jar = new Jar();
    await signIn(site, "acme", jar);
    site.issuer.people.set("s-bob", { ...ADA, email: "bob@acme.example", name: "Bob" });
    site.issuer.subject = "s-bob";
    const bob = new Jar();
    await signIn(site, "acme", bob);
    await setPassword(core, id, "another-north-field", COMMAND_LINE);
    site.issuer.subject = "s-ada";
    await signIn(site, "acme", jar);
    const browser = { ip: "192.0.2.7", userAgent: "test" };
    await core.store.write(() => storeSession(core, id, browser));
    expect(roles(site).map(({ email }) => email)).toEqual([ADA.email, "bob@acme.example"]);
    await unlink(core, id, getIssuer(core, "acme").id, COMMAND_LINE);
    expect(roles(site).map(({ email }) => email)).toEqual(["bob@acme.example"]);
    expect((await jar.go(`${site.url}/account`)).url).toContain("/login");
    expect((await bob.go(`${site.url}/account`)).url).toBe(`${site.url}/account`);
    expect(site.t.rows("SELECT method FROM web_sessions WHERE ended_at IS NULL ORDER BY method")).toEqual([
      { method: null },
      { method: "acme" },
    ]);
  });

  it("lets in people whom an invitation names, without a password, also where accounts are not made by themselves", async () => {
    const port = await freePort();
    const issuer = await startIssuer([`http://127.0.0.1:${port}/sso/acme/callback`]);
    const site = await startSite([issuer], port, { passwords: "operators" });
    const { core } = site.t.instance;
    const team = await site.t.team({ name: "Engines" });
    const invite = (email: string | null) =>
      createInvitation(core, { teamId: team.id, role: "viewer", email }, COMMAND_LINE);
    const { token } = await invite("Ada@acme.example");
    const jar = new Jar();
    const csrf = (text: string) => /name="_csrf" value="([^"]+)"/.exec(text)?.[1] ?? "";
    const open = async () => {
      const { text } = await jar.go(`${site.url}/invitation`);
      await jar.ask(`${site.url}/invitation/open`, { _csrf: csrf(text), token });
      return jar.go(`${site.url}/invitation`);
    };
    // No issuer is set up, so nobody can join yet, and no password is asked for.
    const closed = await open();
    expect([closed.text.includes('type="password"'), closed.text.includes("No single sign-on is set up")]).toEqual([
      false,
      true,
    ]);
    await addIssuer(core, "acme", acme(issuer, { jit: false }), COMMAND_LINE);
    const page = await open();
    expect([page.text.includes('type="password"'), page.text.includes("/sso/acme?next=%2Finvitation")]).toEqual([
      false,
      true,
    ]);
    const posted = await jar.ask(`${site.url}/invitation`, {
      _csrf: csrf(page.text),
      token,
      email: "Ada@acme.example",
      password: "plough-the-north-field",
      again: "plough-the-north-field",
    });
    expect([posted.status, site.t.count("users")]).toEqual([403, 0]);
    // An unverified address, another person, and the holder of a link that names nobody are not let in by it.
    await invite(null);
    issuer.people.set("s-ada", { ...ADA, email_verified: false });
    issuer.people.set("s-eve", { ...ADA, email: "eve@acme.example" });
    for (const subject of ["s-ada", "s-eve"]) {
      issuer.subject = subject;
      expect((await signIn(site)).status).toBe(403);
    }
    expect(site.t.count("users")).toBe(0);
    issuer.people.set("s-ada", ADA);
    issuer.subject = "s-ada";
    const back = await jar.go(`${site.url}/sso/acme?next=%2Finvitation`);
    expect([back.url, back.text.includes("You are signed in as ada@acme.example")]).toEqual([
      `${site.url}/invitation`,
      true,
    ]);
    expect(site.t.count("memberships")).toBe(0);
    const joined = await jar.ask(`${site.url}/invitation`, { _csrf: csrf(back.text), token });
    expect([joined.status, joined.headers.get("location")]).toEqual([303, "/overview"]);
    expect(roles(site)).toEqual([{ email: "ada@acme.example", role: "viewer", bySso: 0 }]);
    expect(site.t.rows("SELECT password_hash FROM users")).toEqual([{ password_hash: null }]);
  });

  it("refuses an account whose password somebody else chose by an invitation", async () => {
    const site = await withIssuer();
    const { core } = site.t.instance;
    const guests = await site.t.team({ name: "Guests" });
    const origin = { ip: "192.0.2.7", userAgent: null };
    const chosen = { email: "ADA@acme.example", name: null, password: "plough-the-north-field" };
    const own = { team: { id: guests.id, role: "owner" }, password: chosen.password } as const;
    const mallory = await createUser(core, { ...own, email: "mallory@example.com" }, COMMAND_LINE);
    const root = await createUser(core, { ...own, email: "root@example.com", operator: true }, COMMAND_LINE);
    const invite = (by: { readonly id: string; readonly email: string }, email: string | null) => {
      const actor = { kind: "user", id: by.id, label: by.email, ip: null } as const;
      return createInvitation(core, { teamId: guests.id, role: "member", email }, actor, "owner");
    };
    const before = roles(site);
    for (const link of [await invite(mallory, ADA.email), await invite(mallory, null), await invite(root, null)])
      await expect(acceptAsNew(core, link.token, chosen, origin)).rejects.toMatchObject({
        status: 403,
        message: "People with addresses of acme.example sign in with Acme: do that, then open the link again.",
      });
    expect(roles(site)).toEqual(before);
    // Nobody vouches for other addresses, and operators could make the account anyway.
    const eve = { ...chosen, email: "eve@example.com" };
    await acceptAsNew(core, (await invite(mallory, null)).token, eve, origin);
    await acceptAsNew(
      core,
      (await invite(root, "bob@acme.example")).token,
      { ...chosen, email: "bob@acme.example" },
      origin,
    );
    expect((await signIn(site)).status).toBe(200);
    expect(roles(site)).toContainEqual({ email: ADA.email, role: "member", bySso: 1 });
    expect(site.t.rows("SELECT password_hash FROM users WHERE email = ?", ADA.email)).toEqual([
      { password_hash: null },
    ]);
  });

  it("lets nobody in by an invitation that was taken back or has expired, or whose maker may not invite any more", async () => {
    const site = await withIssuer(() => ({ jit: false }));
    const { core } = site.t.instance;
    const made = await createInvitation(core, { teamId: site.team.id, role: "member", email: ADA.email }, COMMAND_LINE);
    site.t.clock.advance(LINK_LIFETIME_MS.invitation);
    expect((await signIn(site)).status).toBe(403);
    const second = await createInvitation(
      core,
      { teamId: site.team.id, role: "member", email: ADA.email },
      COMMAND_LINE,
    );
    await revokeInvitation(core, site.team.id, second.id, COMMAND_LINE);
    expect((await signIn(site)).status).toBe(403);
    expect([site.t.count("users"), made.id === second.id]).toEqual([0, false]);
    const grace = await makeAccount(core, { email: "grace@other.example", team: { id: site.team.id, role: "admin" } });
    const by = { kind: "user", id: grace.id, label: grace.email, ip: null } as const;
    await createInvitation(core, { teamId: site.team.id, role: "member", email: ADA.email }, by, "admin");
    await setRole(core, site.team.id, grace.id, "member", COMMAND_LINE);
    expect([(await signIn(site)).status, site.t.count("users")]).toEqual([403, 1]);
  });

  it("refuses an issuer under the name that stands for a proxy, and one that is trusted with addresses of any domain", async () => {
    const { t, issuer } = await withIssuer();
    expect(() => addIssuer(t.instance.core, "proxy", acme(issuer), COMMAND_LINE)).toThrow("stands for a proxy");
    const trusting = addIssuer(t.instance.core, "other", acme(issuer, { domains: [], trustEmail: true }), COMMAND_LINE);
    await expect(trusting).rejects.toThrow("trusted for listed domains only");
    expect(t.count("sso_issuers")).toBe(1);
  });

  it("keeps what groups mean when its form is saved unchanged, whatever teams are called", async () => {
    const t = await startInstance();
    const { core } = t.instance;
    const [odd, plain, twin] = [await t.team({ name: "A=B" }), await t.team({ name: "B" }), await t.team()];
    await t.team({ name: twin.id });
    const meant = [odd, plain, twin].map(({ id }) => `g=${id}:member`);
    const change = { issuer: "https://acme.example/", clientId: "reckon", groups: meant };
    await addIssuer(core, "acme", change, COMMAND_LINE);
    const { groups } = getIssuer(core, "acme");
    const root = await somebody(t, undefined, "member", true);
    const { text } = await ask(t, "GET", "/settings/sso/acme", { as: root });
    const shown = /<textarea[^>]*name="groups"[^>]*>([^<]*)</.exec(text)?.[1] ?? "";
    const form = {
      issuer: change.issuer,
      clientId: "reckon",
      scopes: "email",
      groupsClaim: "groups",
      sessionHours: "24",
    };
    const sent = { ...form, label: "Acme", groups: shown.trim(), domains: "", _csrf: root.csrf };
    expect((await ask(t, "POST", "/settings/sso/acme", { as: root, form: sent })).status).toBe(303);
    expect(getIssuer(core, "acme")).toMatchObject({ scopes: "email", groups });
  });

  it("ends the sessions of everybody whom a removed issuer let in", async () => {
    const site = await withIssuer();
    const jar = new Jar();
    await signIn(site, "acme", jar);
    const { core } = site.t.instance;
    const [{ id }] = site.t.rows("SELECT id FROM users");
    const other = await core.store.write(() => storeSession(core, id, { ip: "192.0.2.7", userAgent: null }));
    await removeIssuer(core, "acme", COMMAND_LINE);
    expect((await jar.go(`${site.url}/sessions`)).url).toContain("/login");
    expect(site.t.rows("SELECT id FROM web_sessions WHERE ended_at IS NULL")).toEqual([{ id: other.id }]);
    expect([site.t.count("memberships"), site.t.count("sso_identities"), site.t.count("users")]).toEqual([0, 0, 1]);
  });

  it("goes by the issuer's settings at the time of its answer, not of the request", async () => {
    const port = await freePort();
    const forger = await startForger();
    const site = await startSite([forger], port);
    const { core } = site.t.instance;
    await site.t.team({ name: "Engines" });
    await addIssuer(core, "acme", acme(forger, { groups: ["engineers=Engines:admin"] }), COMMAND_LINE);
    forger.people.set("s-ada", ADA);
    forger.subject = "s-ada";
    /** Signs in at an issuer that answers only once something has happened. */
    const signInMeanwhile = async (meanwhile: () => Promise<unknown>) => {
      const held = Promise.withResolvers<void>();
      const asked = () => forger.asked.filter((path) => path === "/token").length;
      const before = asked();
      forger.forgery = { held: held.promise };
      const end = signIn(site);
      await expect.poll(asked).toBe(before + 1);
      await meanwhile();
      held.resolve();
      return end;
    };
    // Whom one issuer vouched for is unknown to the one that replaced it.
    const replaced = await signInMeanwhile(() =>
      changeIssuer(core, "acme", { issuer: "https://login.acme.example" }, COMMAND_LINE),
    );
    expect([replaced.status, replaced.text.includes("lets nobody in here any more")]).toEqual([403, true]);
    expect([site.t.count("users"), site.t.count("sso_identities")]).toEqual([0, 0]);
    await changeIssuer(core, "acme", { issuer: forger.url }, COMMAND_LINE);
    const narrowed = await signInMeanwhile(() =>
      changeIssuer(core, "acme", { groups: ["engineers=Engines:viewer"], sessionHours: 1 }, COMMAND_LINE),
    );
    expect([narrowed.status, narrowed.url]).toEqual([200, `${site.url}/sessions`]);
    expect(roles(site)).toEqual([{ email: ADA.email, role: "viewer", bySso: 1 }]);
    expect(site.t.rows("SELECT expires_at - created_at AS span FROM web_sessions")).toEqual([{ span: 60 * MINUTE_MS }]);
    forger.people.set("s-bob", { ...ADA, email: "bob@acme.example" });
    forger.subject = "s-bob";
    const unlisted = await signInMeanwhile(() =>
      changeIssuer(core, "acme", { domains: ["other.example"] }, COMMAND_LINE),
    );
    expect([unlisted.status, unlisted.text.includes("list the domain")]).toEqual([403, true]);
    forger.subject = "s-ada";
    const removed = await signInMeanwhile(() => removeIssuer(core, "acme", COMMAND_LINE));
    expect([removed.status, removed.text.includes("lets nobody in here any more")]).toEqual([403, true]);
    expect([site.t.count("users"), site.t.count("memberships"), site.t.count("sso_identities")]).toEqual([1, 0, 0]);
    expect(site.t.rows("SELECT id FROM web_sessions WHERE ended_at IS NULL")).toEqual([]);
  });

  it("removes with the issuer what it gave thousands of people, once, while others get their turn", async () => {
    const site = await withIssuer();
    const { core } = site.t.instance;
    const { id } = getIssuer(core, "acme");
    const [team] = site.t.rows("SELECT id FROM teams") as { id: string }[];
    const add = core.store.db.transaction(() => {
      for (let i = 0; i < 2_000; i++) {
        core.store.db
          .prepare("INSERT INTO users (id, email, email_key, operator, created_at) VALUES (?, ?, ?, 0, 1)")
          .run(`u-${i}`, `p${i}@acme.example`, `p${i}@acme.example`);
        // Memberships that people gave stay.
        core.store.db
          .prepare("INSERT INTO memberships (team_id, user_id, role, created_at, source) VALUES (?, ?, 'member', 1, ?)")
          .run(team?.id, `u-${i}`, i < 10 ? null : id);
      }
    });
    add();
    let isDone = false;
    const removals = Promise.allSettled([
      removeIssuer(core, "acme", COMMAND_LINE),
      removeIssuer(core, "acme", COMMAND_LINE),
    ]).finally(() => {
      isDone = true;
    });
    const seen = new Set<number>();
    while (!isDone) {
      seen.add(site.t.count("memberships"));
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(seen.size).toBeGreaterThan(8);
    expect((await removals).map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    expect([site.t.count("memberships"), site.t.count("sso_issuers")]).toEqual([10, 0]);
    expect(site.t.count("audit_events WHERE action = 'member.removed'")).toBe(1_990);
    expect(site.t.count("audit_events WHERE action = 'sso.removed'")).toBe(1);
  });
});

describe("an answer that proves nothing", () => {
  it("is refused when it is replayed, comes late, comes to another browser, or has another state", async () => {
    const site = await withIssuer();
    const stop = `${site.url}/sso/acme/callback`;
    const jar = new Jar();
    const { url: answer } = await jar.go(`${site.url}/sso/acme`, stop);
    const stranger = await new Jar().go(answer);
    expect([stranger.status, stranger.text.includes("not begun in this browser")]).toEqual([403, true]);
    const first = await jar.go(answer);
    expect(first.status).toBe(200);
    const replayed = await jar.go(answer);
    expect([replayed.status, site.t.count("web_sessions")]).toEqual([403, 1]);

    const late = new Jar();
    const { url: slow } = await late.go(`${site.url}/sso/acme`, stop);
    site.t.clock.advance(11 * MINUTE_MS);
    expect((await late.go(slow)).status).toBe(403);

    const other = new Jar();
    const { url: changed } = await other.go(`${site.url}/sso/acme`, stop);
    expect((await other.go(changed.replace(/state=[^&]+/, "state=another"))).status).toBe(403);
    // The code of somebody else's sign-in, used in the thief's own browser: PKCE and the nonce refuse it.
    const victim = new Jar();
    const { url: stolen } = await victim.go(`${site.url}/sso/acme`, stop);
    const thief = new Jar();
    const { url: own } = await thief.go(`${site.url}/sso/acme`, stop);
    const code = new URL(stolen).searchParams.get("code") ?? "";
    const mixed = await thief.go(own.replace(/code=[^&]+/, `code=${code}`));
    expect([mixed.status, site.t.count("web_sessions")]).toEqual([403, 1]);
  });

  it("is refused when it comes from another issuer than the one that was asked", async () => {
    const port = await freePort();
    const back = (name: string) => `http://127.0.0.1:${port}/sso/${name}/callback`;
    const honest = await startIssuer([back("acme"), back("other")]);
    const other = await startIssuer([back("acme"), back("other")]);
    const site = await startSite([honest, other], port);
    const { core } = site.t.instance;
    await site.t.team({ name: "Engines" });
    await addIssuer(core, "acme", acme(honest, { groups: ["engineers=Engines:owner"] }), COMMAND_LINE);
    await addIssuer(core, "other", acme(other), COMMAND_LINE);
    for (const issuer of [honest, other]) {
      issuer.people.set("s-ada", ADA);
      issuer.subject = "s-ada";
    }
    const jar = new Jar();
    const { url: answer } = await jar.go(`${site.url}/sso/other`, back("other"));
    const moved = await jar.go(answer.replace("/sso/other/", "/sso/acme/"));
    expect([moved.status, site.t.count("users")]).toEqual([403, 0]);
    // The same code and state under the right address, but said to be the other issuer's (RFC 9207).
    const second = new Jar();
    const { url: said } = await second.go(`${site.url}/sso/acme`, back("acme"));
    const forged = new URL(said);
    forged.searchParams.set("iss", other.url);
    expect((await second.go(forged.href)).status).toBe(403);
    expect(site.t.count("web_sessions")).toBe(0);
  });

  it("sends its code to no other issuer than the one that was asked, also where no answer says whose it is", async () => {
    const port = await freePort();
    const [honest, other] = [await startForger(), await startForger()];
    const site = await startSite([honest, other], port);
    await addIssuer(site.t.instance.core, "acme", acme(honest), COMMAND_LINE);
    await addIssuer(site.t.instance.core, "other", acme(other), COMMAND_LINE);
    const jar = new Jar();
    const { url: answer } = await jar.go(`${site.url}/sso/acme`, `${site.url}/sso/acme/callback`);
    const moved = await jar.go(answer.replace("/sso/acme/", "/sso/other/"));
    expect([moved.status, moved.text.includes("belongs to another sign-in")]).toEqual([403, true]);
    expect([...honest.asked, ...other.asked]).not.toContain("/token");
  });

  it.each<[string, Forgery]>([
    ["another issuer", { claims: (claims) => ({ ...claims, iss: "https://login.example.com" }) }],
    ["another audience", { claims: (claims) => ({ ...claims, aud: "somebody-else" }) }],
    ["several audiences and another party", { claims: (claims) => ({ ...claims, aud: [CLIENT.id, "x"], azp: "x" }) }],
    ["another nonce", { claims: (claims) => ({ ...claims, nonce: "another" }) }],
    ["no nonce", { claims: ({ nonce: _, ...claims }) => claims }],
    ["an end that is past", { claims: (claims) => ({ ...claims, exp: Math.floor(Date.now() / 1_000) - 120 }) }],
    ["a key that is not the issuer's", { foreignKey: true }],
    ["no signature", { unsigned: true }],
    ["a signature by the client's secret", { hmac: true }],
    ["no subject", { claims: ({ sub: _, ...claims }) => claims }],
    [
      "more groups than it sends",
      { claims: ({ groups: _, ...claims }) => ({ ...claims, _claim_names: { groups: "src1" } }) },
    ],
  ])("is refused with %s", async (_, forgery) => {
    const port = await freePort();
    const forger = await startForger();
    const site = await startSite([forger], port);
    await site.t.team({ name: "Engines" });
    await addIssuer(site.t.instance.core, "acme", acme(forger, { groups: ["*=Engines:owner"] }), COMMAND_LINE);
    forger.people.set("s-ada", ADA);
    forger.subject = "s-ada";
    forger.forgery = forgery;
    const end = await signIn(site);
    expect([end.status, site.t.count("users"), site.t.count("web_sessions")]).toEqual([403, 0, 0]);
    // The same issuer without the forgery lets the person in, also right after it changed its key.
    forger.forgery = {};
    expect((await signIn(site)).status).toBe(200);
    await forger.rotate();
    expect((await signIn(site)).status).toBe(200);
    expect(site.t.count("users")).toBe(1);
  });
});

describe("what is asked of an issuer", () => {
  it("says what an operator has to change where the issuer has another name, or no longer takes the secret", async () => {
    const port = await freePort();
    const issuer = await startIssuer([`http://127.0.0.1:${port}/sso/acme/callback`]);
    issuer.people.set("s-ada", ADA);
    issuer.subject = "s-ada";
    const alias = issuer.host.replace("127.0.0.1", "localhost");
    const site = await startSite([issuer, { ...issuer, host: alias }], port);
    const { core } = site.t.instance;
    await site.t.team({ name: "Engines" });
    const groups = ["engineers=Engines:member"];
    await addIssuer(core, "acme", acme(issuer, { groups, clientSecret: "that of last year" }), COMMAND_LINE);
    const outcome = async () => {
      const { status, text } = await signIn(site);
      return [status, text, site.t.count("web_sessions")];
    };
    const refused = "id or secret that stand here (invalid_client)";
    expect(await outcome()).toEqual([502, expect.stringContaining(refused), 0]);
    await changeIssuer(core, "acme", { clientSecret: CLIENT.secret, issuer: `http://${alias}` }, COMMAND_LINE);
    expect(await outcome()).toEqual([502, expect.stringContaining(`calls itself ${issuer.url}: enter`), 0]);
    await changeIssuer(core, "acme", { issuer: issuer.url }, COMMAND_LINE);
    expect(await outcome()).toEqual([200, expect.anything(), 1]);
  });

  it("is limited to twenty requests at a time, however many browsers come back with invalid codes", async () => {
    const port = await freePort();
    const forger = await startForger();
    const site = await startSite([forger], port);
    await addIssuer(site.t.instance.core, "acme", acme(forger), COMMAND_LINE);
    const back = await Promise.all(
      Array.from({ length: 28 }, async () => {
        const jar = new Jar();
        const { url } = await jar.go(`${site.url}/sso/acme`, `${forger.url}/authorize`);
        const state = new URL(url).searchParams.get("state");
        return () =>
          jar.go(`${site.url}/sso/acme/callback?${new URLSearchParams({ code: "none", state: state ?? "" })}`);
      }),
    );
    const held = Promise.withResolvers<void>();
    forger.forgery = { held: held.promise };
    const ends = back.map((comeBack) => comeBack());
    await expect.poll(() => forger.mostRedeeming).toBe(20);
    held.resolve();
    expect(new Set((await Promise.all(ends)).map(({ status }) => status))).toEqual(new Set([403]));
    expect([forger.mostRedeeming, forger.asked.filter((path) => path === "/token").length]).toEqual([20, 28]);
  });

  it("is asked only of hosts that are listed, and nothing is kept for who does not come back", async () => {
    const port = await freePort();
    const issuer = await startIssuer([`http://127.0.0.1:${port}/sso/acme/callback`]);
    const site = await startSite([], port);
    await addIssuer(site.t.instance.core, "acme", acme(issuer), COMMAND_LINE);
    const end = await signIn(site);
    expect([end.status, end.text.includes("RECKON_OUTBOUND does not list"), issuer.asked]).toEqual([502, true, []]);
    const before = site.t.rows("SELECT count(*) AS n FROM audit_events");
    for (let i = 0; i < 5; i++) await signIn(site);
    expect(site.t.rows("SELECT count(*) AS n FROM audit_events")).toEqual(before);
    expect((await new Jar().go(`${site.url}/sso/unknown`)).status).toBe(404);
  });
});
