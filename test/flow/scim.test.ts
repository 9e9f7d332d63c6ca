import { describe, expect, it } from "vitest";
import { createApiToken } from "../../src/identity/api-tokens/api-tokens.ts";
import { setRole } from "../../src/identity/members/members.ts";
import { storeSession } from "../../src/identity/web-sessions/web-sessions.ts";
import { baseUrlOf } from "../../src/kit/base-url.ts";
import { COMMAND_LINE } from "../../src/platform/audit/audit.ts";
import { cookieNames } from "../../src/platform/http/cookies.ts";
import { cliToken } from "../support/cli.ts";
import { startInstance, startWithTeam, type TestInstance } from "../support/instance.ts";
import { readToken } from "../support/reads.ts";
import {
  account,
  add,
  ENTERPRISE,
  entraUser,
  oktaUser,
  patch,
  startDirectory,
  teamsOf,
  withTeams,
} from "../support/scim.ts";

/** Provisioning, in the very requests that Okta and Entra ID send. */

const LIST = "urn:ietf:params:scim:api:messages:2.0:ListResponse";
const ERROR = "urn:ietf:params:scim:api:messages:2.0:Error";

const actions = (t: TestInstance, like = "%") =>
  t.rows("SELECT action FROM audit_events WHERE action LIKE ? ORDER BY id", like).map(({ action }) => action);

/** What somebody has in their hands: each tells whether it still works. */
async function belongings(t: TestInstance, userId: string, teamId: string): Promise<() => Promise<number[]>> {
  const { core } = t.instance;
  await setRole(core, teamId, userId, "admin", COMMAND_LINE);
  const session = await core.store.write(() => storeSession(core, userId, { ip: "127.0.0.1", userAgent: null }));
  const cookie = `${cookieNames(baseUrlOf(core.config)).session}=${session.token}`;
  const cli = (await cliToken(t, { id: userId, email: "" })).accessToken;
  const read = (await readToken(t, userId)).token;
  const api = (await createApiToken(core, { teamId, userId, name: "report" }, COMMAND_LINE)).token;
  return async () => [
    (await t.get("/sessions", { headers: { cookie } })).status,
    (await t.get("/api/cli/me", { token: cli })).status,
    (await t.get("/api/me/brain/context?q=x", { token: read })).status,
    (await t.get("/api/devices", { token: api })).status,
  ];
}

describe("what Okta sends", () => {
  it("tests in its order: nobody, add, read, replace, deactivate, reactivate", async () => {
    const { t, team } = await startWithTeam();
    const okta = await startDirectory(t, "okta");
    const userName = "test.user@acme.example";
    const listed = await okta.send("GET", "Users?count=1&startIndex=1");
    expect([listed.status, listed.body.totalResults]).toEqual([200, 0]);
    expect((await okta.send("GET", "Users/010101001010101011001010101011")).body).toEqual({
      ...{ schemas: [ERROR], status: "404" },
      detail: "There is no such user.",
    });
    const query = `Users?filter=userName%20eq%20%22${encodeURIComponent(userName)}%22&startIndex=1&count=100`;
    const none = await okta.send("GET", query);
    expect(none.body).toEqual({ schemas: [LIST], totalResults: 0, startIndex: 1, itemsPerPage: 0, Resources: [] });
    expect(none.headers.get("content-type")).toBe("application/scim+json");

    const made = await okta.send("POST", "Users", oktaUser(userName));
    const { id } = made.body;
    expect([made.status, made.headers.get("location")]).toEqual([201, made.body.meta.location]);
    expect(made.body).toEqual({
      schemas: ["urn:ietf:params:scim:schemas:core:2.0:User"],
      id: expect.stringMatching(/^scu_/),
      externalId: "00u-test.user",
      userName,
      name: { givenName: "Test", familyName: "User" },
      displayName: "Test User",
      emails: [{ value: userName, type: "work", primary: true }],
      active: true,
      groups: [],
      meta: {
        ...{ resourceType: "User", created: "2026-11-21T08:00:00.000Z", lastModified: "2026-11-21T08:00:00.000Z" },
        location: `${baseUrlOf(t.instance.core.config)}/scim/v2/Users/${id}`,
      },
    });
    const stored = account(t, userName);
    expect(stored).toMatchObject({ name: "Test User", password_hash: null, operator: 0, open: 1 });
    expect(JSON.stringify(t.rows("SELECT * FROM scim_users"))).not.toContain("1mz050nq");
    expect((await okta.send("POST", "Users", oktaUser(userName))).body).toMatchObject({
      ...{ schemas: [ERROR], status: "409", scimType: "uniqueness" },
    });
    const found = await okta.send("GET", query.replace("test.user", "TEST.User"));
    expect([found.body.totalResults, found.body.Resources[0].id]).toEqual([1, id]);
    expect((await okta.send("GET", `Users/${id}`)).body).toEqual(made.body);

    const renamed = {
      ...oktaUser(userName),
      id,
      name: { givenName: "Another", familyName: "User" },
      displayName: "Another User",
    };
    expect((await okta.send("PUT", `Users/${id}`, renamed)).body.name.givenName).toBe("Another");
    expect(account(t, userName).name).toBe("Another User");

    const works = await belongings(t, stored.id, team.id);
    expect(await works()).toEqual([200, 200, 200, 200]);
    const off = await okta.send("PATCH", `Users/${id}`, patch({ op: "replace", value: { active: false } }));
    expect([off.status, off.body.active]).toEqual([200, false]);
    expect(await works()).toEqual([303, 401, 401, 401]);
    expect(account(t, userName).open).toBe(0);
    expect((await okta.send("GET", `Users/${id}`)).body.active).toBe(false);
    const on = await okta.send("PATCH", `Users/${id}`, patch({ op: "replace", value: { active: true } }));
    expect([on.body.active, account(t, userName).open]).toEqual([true, 1]);
    // A session that ended stays ended.
    expect((await works())[0]).toBe(303);
    const events = t.rows(
      "SELECT DISTINCT actor_kind, actor_label FROM audit_events WHERE action LIKE 'scim.%' OR action LIKE 'user.%'",
    );
    expect(events).toEqual([{ actor_kind: "system", actor_label: "provisioning by okta" }]);
    expect(actions(t, "user.%")).toEqual(["user.created", "user.changed", "user.disabled", "user.enabled"]);
  });

  it("pushes a group, its people, and its new name; what it gives follows at once", async () => {
    const { t, directory: okta } = await withTeams();
    const [ada, bob] = await add(okta, "ada", "bob");
    const made = await okta.send("POST", "Groups", {
      schemas: ["urn:ietf:params:scim:schemas:core:2.0:Group"],
      displayName: "engineers",
      members: [{ value: ada, display: "ada@acme.example" }],
    });
    expect([made.status, made.body.members]).toEqual([
      201,
      [{ value: ada, display: "ada@acme.example", $ref: expect.stringMatching(`/scim/v2/Users/${ada}$`) }],
    ]);
    const { id } = made.body;
    expect(teamsOf(t, "ada@acme.example")).toEqual(["Engines:member"]);
    const send = (...operations: object[]) => okta.send("PATCH", `Groups/${id}`, patch(...operations));
    const swap = [
      { op: "remove", path: `members[value eq "${ada}"]` },
      { op: "add", path: "members", value: [{ value: bob, display: "bob@acme.example" }] },
    ];
    expect((await send(...swap)).status).toBe(204);
    expect([teamsOf(t, "ada@acme.example"), teamsOf(t, "bob@acme.example")]).toEqual([[], ["Engines:member"]]);
    expect((await send({ op: "replace", value: { id, displayName: "leads" } })).status).toBe(204);
    expect(teamsOf(t, "bob@acme.example")).toEqual(["Engines:admin"]);
    expect((await send({ op: "replace", path: "members", value: [{ value: ada }] })).status).toBe(204);
    expect([teamsOf(t, "ada@acme.example"), teamsOf(t, "bob@acme.example")]).toEqual([["Engines:admin"], []]);
    const put = await okta.send("PUT", `Groups/${id}`, {
      displayName: "engineers",
      members: [{ value: ada }, { value: bob }],
    });
    expect([put.status, put.body.members.length]).toEqual([200, 2]);
    expect((await okta.send("GET", `Users/${bob}`)).body.groups).toEqual([
      { value: id, display: "engineers", $ref: expect.any(String) },
    ]);
    expect((await okta.send("DELETE", `Users/${bob}`)).status).toBe(204);
    expect([teamsOf(t, "ada@acme.example"), teamsOf(t, "bob@acme.example")]).toEqual([["Engines:member"], []]);
    expect((await okta.send("DELETE", `Groups/${id}`)).status).toBe(204);
    expect((await okta.send("GET", `Groups/${id}`)).status).toBe(404);
    expect([teamsOf(t, "ada@acme.example"), teamsOf(t, "bob@acme.example")]).toEqual([[], []]);
    expect(t.rows("SELECT count(*) AS n FROM scim_users WHERE pending = 1")).toEqual([{ n: 0 }]);
    expect(actions(t, "scim.group%")).toEqual([
      "scim.group_added",
      ...Array(4).fill("scim.group_changed"),
      "scim.group_removed",
    ]);
  });
});

describe("what Entra ID sends", () => {
  it("looks for, adds, changes with several operations, disables with a text, and removes", async () => {
    const t = await startInstance();
    const entra = await startDirectory(t, "entra");
    expect(await entra.find("Users", 'externalId eq "0a21f0f2-jyoung"')).toEqual([]);
    const made = await entra.send("POST", "Users", entraUser("jyoung"));
    expect(made.status).toBe(201);
    expect(made.body).toMatchObject({ displayName: "jyoung Doe", name: { formatted: "jyoung Doe" }, active: true });
    const { id } = made.body;
    for (const filter of [
      'externalId eq "0a21f0f2-jyoung"',
      'userName eq "JYoung@acme.example"',
      'urn:ietf:params:scim:schemas:core:2.0:User:userName eq "jyoung@acme.example"',
      'displayName eq "JYOUNG doe"',
      'emails[type eq "work"].value eq "jyoung@acme.example"',
      'emails.value Eq "jyoung@acme.example"',
      `ID eq "${id}"`,
    ])
      expect([filter, await entra.find("Users", filter)]).toEqual([filter, [id]]);
    expect(await entra.find("Users", 'externalId eq "0A21F0F2-JYOUNG"')).toEqual([]);
    const changed = await entra.send(
      "PATCH",
      `Users/${id}`,
      patch(
        { op: "Replace", path: 'emails[type eq "work"].value', value: "updated@acme.example" },
        { op: "Replace", path: "name.givenName", value: "Josephine" },
        { op: "Add", path: "displayName", value: "Josephine Young" },
        { op: "Replace", path: "title", value: "Captain" },
        { op: "Add", path: 'phoneNumbers[type eq "mobile"].value', value: "+353 1 555 0101" },
        { op: "Add", path: `${ENTERPRISE}:department`, value: "Bridge" },
        { op: "Replace", value: { "name.familyName": "Young", [`${ENTERPRISE}:manager`]: "someone", nickName: "Jo" } },
        { op: "Remove", path: "name.formatted" },
      ),
    );
    expect([changed.status, changed.body.name]).toEqual([200, { givenName: "Josephine", familyName: "Young" }]);
    expect(account(t, "updated@acme.example")).toMatchObject({ name: "Josephine Young", open: 1 });
    expect(changed.body.emails[0].value).toBe("updated@acme.example");
    const off = await entra.send("PATCH", `Users/${id}`, patch({ op: "Replace", path: "active", value: "False" }));
    expect([off.body.active, account(t, "updated@acme.example").open]).toEqual([false, 0]);
    expect((await entra.send("GET", `Users/${id}`)).body.active).toBe(false);
    const both = patch(
      { op: "Add", path: "active", value: "True" },
      { op: "replace", path: "userName", value: "jo@acme.example" },
    );
    expect((await entra.send("PATCH", `Users/${id}`, both)).body).toMatchObject({
      active: true,
      userName: "jo@acme.example",
    });
    // The user name was not the address any more.
    expect(account(t, "updated@acme.example").open).toBe(1);
    const works = await belongings(t, account(t, "updated@acme.example").id, (await t.team()).id);
    const gone = await entra.send("DELETE", `Users/${id}`);
    expect([gone.status, gone.text]).toEqual([204, ""]);
    expect(await works()).toEqual([303, 401, 401, 401]);
    expect((await entra.send("GET", `Users/${id}`)).status).toBe(404);
    expect((await entra.send("DELETE", `Users/${id}`)).status).toBe(404);
    expect(account(t, "updated@acme.example").open).toBe(0);
    expect(t.rows("SELECT user_name, external_id, given_name FROM scim_users")).toEqual([
      { user_name: "", external_id: null, given_name: null },
    ]);
    // Somebody who is provisioned again has the account that there was, and it is open.
    const again = await entra.send(
      "POST",
      "Users",
      entraUser("jyoung", { emails: [{ value: "updated@acme.example" }] }),
    );
    expect([again.status, again.body.active, again.body.id === id]).toEqual([201, true, false]);
    expect([t.count("users"), t.count("scim_users"), account(t, "updated@acme.example").open]).toEqual([1, 1, 1]);
  });

  it("adds a group without people, adds them, renames it, and takes them out in both styles", async () => {
    const { t, directory: entra } = await withTeams();
    const [ada, bob] = await add(entra, "ada", "bob");
    const path = 'Groups?excludedAttributes=members&filter=displayName%20eq%20"engineers"';
    expect((await entra.send("GET", path)).body.totalResults).toBe(0);
    const made = await entra.send("POST", "Groups", {
      schemas: [
        "urn:ietf:params:scim:schemas:core:2.0:Group",
        "http://schemas.microsoft.com/2006/11/ResourceManagement/ADSCIM/2.0/Group",
      ],
      externalId: "8aa1a0c0",
      displayName: "engineers",
      meta: { resourceType: "Group" },
    });
    expect([made.status, made.body.members]).toEqual([201, []]);
    const { id } = made.body;
    const one = await entra.send("GET", `Groups/${id}?excludedAttributes=members`);
    expect([one.body.displayName, "members" in one.body]).toEqual(["engineers", false]);
    const send = (...operations: object[]) => entra.send("PATCH", `Groups/${id}`, patch(...operations));
    const both = [{ $ref: null, value: ada }, { value: bob }];
    expect((await send({ op: "Add", path: "members", value: both })).status).toBe(204);
    // Doing it once more does no harm.
    expect((await send({ op: "Add", path: "members", value: both })).status).toBe(204);
    // Named by the directory's own id, too: that is what Entra ID's tokens have for groups.
    expect(teamsOf(t, "ada@acme.example")).toEqual(["Engines:member", "Guests:member"]);
    expect((await entra.send("GET", path)).body.Resources).toEqual([
      expect.objectContaining({ id, externalId: "8aa1a0c0" }),
    ]);
    expect((await send({ op: "Replace", path: "displayName", value: "others" })).status).toBe(204);
    expect(teamsOf(t, "ada@acme.example")).toEqual(["Guests:member"]);
    expect((await send({ op: "Remove", path: "members", value: [{ $ref: null, value: ada }] })).status).toBe(204);
    expect([teamsOf(t, "ada@acme.example"), teamsOf(t, "bob@acme.example")]).toEqual([[], ["Guests:member"]]);
    expect((await send({ op: "Remove", path: `members[value eq "${bob}"]` })).status).toBe(204);
    expect(teamsOf(t, "bob@acme.example")).toEqual([]);
    await send({ op: "Add", path: "members", value: both });
    expect((await send({ op: "Remove", path: "members" })).status).toBe(204);
    expect([t.count("scim_members"), t.count("memberships")]).toEqual([0, 0]);
  });
});
