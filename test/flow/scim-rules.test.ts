import { describe, expect, it } from "vitest";
import { createApiToken } from "../../src/identity/api-tokens/api-tokens.ts";
import { assignDevice, createCode } from "../../src/identity/devices/devices.ts";
import { createScimToken, listScimTokens, revokeScimToken } from "../../src/identity/directory/directory.ts";
import { setRole } from "../../src/identity/members/members.ts";
import { createInvitation } from "../../src/identity/one-time-links/one-time-links.ts";
import { setOperator } from "../../src/identity/people/people.ts";
import { createReadToken } from "../../src/identity/read-tokens/read-tokens.ts";
import { setDisabled } from "../../src/identity/sign-in/sign-in.ts";
import { acceptVouched, changeIssuer, getIssuer, linkVouched, removeIssuer } from "../../src/identity/sso/sso.ts";
import { MINUTE_MS } from "../../src/kit/clock.ts";
import { COMMAND_LINE } from "../../src/platform/audit/audit.ts";
import { carryOut, requestErasure, resolveTarget } from "../../src/share/erasure/erasure.ts";
import { resolveScope } from "../../src/share/export/export.ts";
import { partsOf } from "../../src/share/export/parts.ts";
import { makeAccount } from "../support/accounts.ts";
import { eraseNow, filesWith } from "../support/erasure.ts";
import { startInstance, type TestInstance } from "../support/instance.ts";
import { ledgerFaults } from "../support/ledger-faults.ts";
import { turnsOfOthers } from "../support/others.ts";
import { readToken } from "../support/reads.ts";
import {
  account,
  add,
  type Directory,
  entraUser,
  oktaUser,
  patch,
  startDirectory,
  teamsOf,
  withTeams,
} from "../support/scim.ts";

/** Whose accounts a directory may touch, what it may send, and what it never sees. */

const SCIM_TYPE = "application/scim+json";

/** An attribute as `/Schemas` describes it. */
interface Described {
  readonly type: string;
  readonly referenceTypes?: string[];
  readonly subAttributes?: Described[];
}

const ORIGIN = { ip: "192.0.2.9", userAgent: null };

/** Status and what SCIM calls it. */
const outcome = ({ status, body }: { status: number; body: { scimType?: string } }) => [status, body?.scimType];

const vouched = (subject: string, email: string | null, more: object = {}) => ({
  ...{ subject, email, emailVerified: null, name: "Ada", groups: [], ...more },
});
const enter = async (t: TestInstance, one: ReturnType<typeof vouched>) =>
  acceptVouched(t.instance.core, getIssuer(t.instance.core, "acme"), one, ORIGIN);

describe("whose account it is", () => {
  it("takes over an account of a listed domain, never an operator's, and none that was closed by hand", async () => {
    const t = await startInstance();
    const { core } = t.instance;
    const directory = await startDirectory(t);
    const ada = await makeAccount(core, { email: "Ada@acme.example", name: "Ada" });
    await makeAccount(core, { email: "root@acme.example", operator: true });
    const bob = await makeAccount(core, { email: "bob@acme.example" });
    await makeAccount(core, { email: "eve@else.example" });
    await setDisabled(core, bob.id, true, COMMAND_LINE);
    const post = (name: string) => directory.send("POST", "Users", oktaUser(name));
    expect((await post("ada@acme.example")).status).toBe(201);
    expect(t.rows("SELECT user_id FROM scim_users")).toEqual([{ user_id: ada.id }]);
    // Nobody knows who chose that account's password, so it is gone: from here on the account belongs to the directory's person alone.
    expect(t.rows("SELECT password_hash FROM users WHERE id = ?", ada.id)).toEqual([{ password_hash: null }]);
    const root = await post("root@acme.example");
    expect([...outcome(root), root.body.detail]).toEqual([
      ...[409, "uniqueness"],
      "root@acme.example runs this installation, and operators are not provisioned. Leave them out.",
    ]);
    const closed = await post("bob@acme.example");
    expect([...outcome(closed), closed.body.detail]).toEqual([409, "uniqueness", expect.stringContaining("by hand")]);
    // The reply does not show whether there is such an account elsewhere.
    for (const email of ["eve@else.example", "nobody@else.example"]) {
      const foreign = await post(email);
      expect([...outcome(foreign), foreign.body.detail]).toEqual([
        ...[400, "invalidValue"],
        expect.stringContaining("may not provision addresses of else.example"),
      ]);
    }
    expect(t.count("scim_users")).toBe(1);
    expect(account(t, "root@acme.example").open).toBe(1);
  });

  it("changes nothing of an operator, and opens only accounts that it closed", async () => {
    const t = await startInstance();
    const { core } = t.instance;
    const directory = await startDirectory(t);
    const [ada, bob] = await add(directory, "ada", "bob");
    await setOperator(core, "ada@acme.example", true, COMMAND_LINE);
    const off = patch({ op: "replace", value: { active: false } });
    const on = patch({ op: "replace", value: { active: true } });
    for (const answer of [
      await directory.send("PATCH", `Users/${ada}`, off),
      await directory.send("PUT", `Users/${ada}`, oktaUser("ada@acme.example", { displayName: "Eve" })),
      await directory.send("DELETE", `Users/${ada}`),
    ])
      expect([answer.status, answer.body.detail]).toEqual([403, expect.stringContaining("operators")]);
    expect(account(t, "ada@acme.example")).toMatchObject({ name: "Test User", open: 1 });
    await setDisabled(core, "bob@acme.example", true, COMMAND_LINE);
    expect((await directory.send("GET", `Users/${bob}`)).body.active).toBe(false);
    // An account that was closed by hand is not the directory's to open because the directory closes it, too.
    expect((await directory.send("PATCH", `Users/${bob}`, off)).status).toBe(200);
    expect((await directory.send("PATCH", `Users/${bob}`, on)).status).toBe(403);
    expect((await directory.send("PUT", `Users/${bob}`, oktaUser("bob@acme.example"))).status).toBe(403);
    expect(account(t, "bob@acme.example").open).toBe(0);
    await setDisabled(core, "bob@acme.example", false, COMMAND_LINE);
    const renamed = patch({ op: "replace", value: { displayName: "Bob B." } });
    for (const change of [off, renamed])
      expect((await directory.send("PATCH", `Users/${bob}`, change)).body.active).toBe(false);
    expect((await directory.send("PATCH", `Users/${bob}`, on)).body.active).toBe(true);
    // Nor is one that was opened and closed again by hand, though the directory had closed it before.
    expect((await directory.send("PATCH", `Users/${bob}`, off)).body.active).toBe(false);
    for (const disabled of [false, true]) await setDisabled(core, "bob@acme.example", disabled, COMMAND_LINE);
    expect((await directory.send("PATCH", `Users/${bob}`, on)).status).toBe(403);
    expect((await directory.send("DELETE", `Users/${bob}`)).status).toBe(204);
    expect((await directory.send("POST", "Users", oktaUser("bob@acme.example"))).status).toBe(409);
    expect(account(t, "bob@acme.example").open).toBe(0);
  });

  it("does not open an account that is replaced without a word of whether it is active", async () => {
    const t = await startInstance();
    const directory = await startDirectory(t);
    const [ada] = await add(directory, "ada");
    const { active: _, ...unsaid } = oktaUser("ada@acme.example", { displayName: "Ada Lovelace" });
    const put = async (body: object) => {
      const answer = await directory.send("PUT", `Users/${ada}`, body);
      return [answer.status, answer.body.active, account(t, "ada@acme.example").open];
    };
    expect(await put(unsaid)).toEqual([200, true, 1]);
    await directory.send("PATCH", `Users/${ada}`, patch({ op: "replace", value: { active: false } }));
    for (const body of [unsaid, { ...unsaid, active: null }]) expect(await put(body)).toEqual([200, false, 0]);
    expect(account(t, "ada@acme.example").name).toBe("Ada Lovelace");
  });

  it("refuses names and addresses that are taken, and addresses of other domains, on every way", async () => {
    const t = await startInstance();
    const directory = await startDirectory(t);
    const [ada] = await add(directory, "ada", "bob");
    const to = (email: string) => [{ op: "replace", path: 'emails[type eq "work"].value', value: email }];
    const user = `Users/${ada}`;
    expect(outcome(await directory.send("PATCH", user, patch(...to("bob@acme.example"))))).toEqual([409, "uniqueness"]);
    expect(outcome(await directory.send("PATCH", user, patch(...to("ada@else.example"))))).toEqual([
      400,
      "invalidValue",
    ]);
    expect(outcome(await directory.send("PUT", user, { ...oktaUser("BOB@acme.example"), emails: undefined }))).toEqual([
      409,
      "uniqueness",
    ]);
    expect(outcome(await directory.send("PUT", user, { name: {} }))).toEqual([400, "invalidValue"]);
    // Nor is there a second record of an account, which would keep it open when the other one leaves.
    const second = { ...oktaUser("bob@acme.example"), userName: "rob@acme.example", externalId: "00u-rob" };
    expect(outcome(await directory.send("POST", "Users", second))).toEqual([409, "uniqueness"]);
    // If two had one user name, closing one could close the other.
    const named = (email: string) => ({ ...oktaUser(email), userName: "BOB@acme.example" });
    for (const [method, path, email] of [
      ["POST", "Users", "rob@acme.example"],
      ["PUT", user, "ada@acme.example"],
    ] as const)
      expect(outcome(await directory.send(method, path, named(email)))).toEqual([409, "uniqueness"]);
    expect([t.count("scim_users"), account(t, "ada@acme.example").open]).toEqual([2, 1]);
    // A record without an address of its own follows the user name.
    const renamed = patch({ op: "replace", path: "userName", value: "countess@acme.example" });
    expect((await directory.send("PATCH", user, renamed)).body.emails[0].value).toBe("countess@acme.example");
    expect(t.rows("SELECT email FROM former_addresses")).toEqual([{ email: "ada@acme.example" }]);
  });

  it("keeps the work address when one of another kind is added, and takes the work address from a list of kinds", async () => {
    const t = await startInstance();
    const directory = await startDirectory(t);
    const [ada] = await add(directory, "ada");
    const home = { type: "home", value: "ada@home.example" };
    const change = async (op: string, value: unknown) => {
      const { status, body } = await directory.send("PATCH", `Users/${ada}`, patch({ op, path: "emails", value }));
      return [status, body.emails?.[0].value];
    };
    expect(await change("add", [home])).toEqual([200, "ada@acme.example"]);
    expect(await change("add", home)).toEqual([200, "ada@acme.example"]);
    expect(await change("add", [home, { type: "work", value: "ada2@acme.example" }])).toEqual([
      200,
      "ada2@acme.example",
    ]);
    const shown = patch({ op: "replace", path: 'emails[type eq "work"].display', value: "eve@acme.example" });
    expect((await directory.send("PATCH", `Users/${ada}`, shown)).body.emails[0].value).toBe("ada2@acme.example");
    expect(account(t, "ada2@acme.example")).toBeDefined();
  });

  it("never takes a home address for the work address, in any operation", async () => {
    const t = await startInstance();
    // Even where the directory may vouch for the home domain.
    const directory = await startDirectory(t, "acme", { domains: ["acme.example", "home.example"] });
    const [ada] = await add(directory, "ada");
    const homes = [
      [{ type: "home", value: "ada@home.example" }],
      [{ type: "Home", primary: true, value: "ada@home.example" }],
      [{ type: "other", value: "ada@home.example" }],
    ];
    for (const emails of homes) {
      const replaced = await directory.send("PUT", `Users/${ada}`, oktaUser("ada@acme.example", { emails }));
      const changed = await directory.send(
        "PATCH",
        `Users/${ada}`,
        patch({ op: "replace", path: "emails", value: emails }, { op: "replace", value: { emails } }),
      );
      for (const { status, body } of [replaced, changed])
        expect([status, body.emails]).toEqual([200, [{ value: "ada@acme.example", type: "work", primary: true }]]);
    }
    // Nor does a change of another address change it, whatever the user name is.
    const moved = patch({ op: "replace", path: 'emails[primary eq "True"].value', value: "ada.l@acme.example" });
    expect((await directory.send("PATCH", `Users/${ada}`, moved)).body.emails[0].value).toBe("ada.l@acme.example");
    for (const path of [
      'emails[value eq "ada@home.example"]',
      'emails[type eq "home"]',
      'emails[primary eq "False"]',
    ]) {
      const { status, body } = await directory.send("PATCH", `Users/${ada}`, patch({ op: "remove", path }));
      expect([path, status, body.emails[0].value]).toEqual([path, 200, "ada.l@acme.example"]);
    }
    // A new person's address is the user name, or the person is refused if that is no allowed address.
    const [emails] = homes;
    const bob = await directory.send("POST", "Users", oktaUser("bob@acme.example", { emails }));
    expect([bob.status, bob.body.emails[0].value]).toEqual([201, "bob@acme.example"]);
    const cyd = await directory.send("POST", "Users", oktaUser("cyd", { emails }));
    expect(outcome(cyd)).toEqual([400, "invalidValue"]);
    // An address of another kind counts if it is the primary one, and one without a kind always counts.
    const other = { emails: [...(emails ?? []), { type: "other", primary: "True", value: "dan@acme.example" }] };
    const dan = await directory.send("POST", "Users", oktaUser("dan", other));
    expect([dan.status, dan.body.emails[0].value]).toEqual([201, "dan@acme.example"]);
    const plain = { emails: [...(emails ?? []), { value: "eve@acme.example" }] };
    const eve = await directory.send("POST", "Users", oktaUser("eve", plain));
    expect([eve.status, eve.body.emails[0].value]).toEqual([201, "eve@acme.example"]);
    expect(t.rows("SELECT email FROM users ORDER BY email").map(({ email }) => email)).toEqual(
      ["ada.l", "bob", "dan", "eve"].map((name) => `${name}@acme.example`),
    );
    expect(t.rows("SELECT email FROM former_addresses")).toEqual([{ email: "ada@acme.example" }]);
  });

  it("closes the account of a person who leaves, though the address that comes along is not allowed", async () => {
    const t = await startInstance();
    const directory = await startDirectory(t);
    const users = await add(directory, "ada", "bob", "cyd");
    const leaving = (email: string) =>
      patch(
        { op: "Replace", path: 'emails[type eq "work"].value', value: email },
        { op: "Replace", path: "active", value: "False" },
      );
    for (const [index, email] of ["ada@former.example", "cyd@acme.example", "none"].entries()) {
      const left = await directory.send("PATCH", `Users/${users[index]}`, leaving(email));
      expect([left.status, left.body.active]).toEqual([200, false]);
    }
    expect(t.rows("SELECT email, disabled_at IS NULL AS open FROM users ORDER BY email")).toEqual(
      ["ada", "bob", "cyd"].map((name) => ({ email: `${name}@acme.example`, open: 0 })),
    );
  });

  it("closes the account of a person who leaves, though an unknown attribute comes along", async () => {
    const t = await startInstance();
    const directory = await startDirectory(t);
    const [ada, bob] = await add(directory, "ada", "bob");
    const unknown = { op: "replace", path: "department", value: "Engines" };
    const apart = await directory.send(
      "PATCH",
      `Users/${ada}`,
      patch(unknown, { op: "Replace", path: "active", value: "False" }),
    );
    const whole = patch({ op: "replace", value: { department: "Engines", active: false } });
    expect([apart.status, (await directory.send("PATCH", `Users/${bob}`, whole)).status]).toEqual([200, 200]);
    expect(t.count("users WHERE disabled_at IS NULL")).toBe(0);
    const back = await directory.send(
      "PATCH",
      `Users/${ada}`,
      patch(unknown, { op: "replace", path: "active", value: true }),
    );
    expect(outcome(back)).toEqual([400, "invalidPath"]);
    expect(t.count("users WHERE disabled_at IS NULL")).toBe(0);
  });
});

describe("signing in", () => {
  it("finds who was provisioned, by the directory's id or by an address that nobody calls verified", async () => {
    const { t, directory } = await withTeams();
    const [ada, bob] = await add(directory, "ada", "bob", "eve");
    await enter(t, vouched("00u-ada", "someone@else.example"));
    await enter(t, vouched("s-bob", "bob@acme.example"));
    expect(
      t.rows("SELECT subject, email FROM sso_identities JOIN users ON users.id = user_id ORDER BY subject"),
    ).toEqual([
      { subject: "00u-ada", email: "ada@acme.example" },
      { subject: "s-bob", email: "bob@acme.example" },
    ]);
    // Somebody else with the same address is refused, and so is an address that the issuer calls unverified.
    await expect(enter(t, vouched("s-mallory", "bob@acme.example"))).rejects.toThrow("does not say");
    await expect(enter(t, vouched("s-eve", "eve@acme.example", { emailVerified: false }))).rejects.toThrow(
      "does not say",
    );
    // The token's groups count until the directory sends groups.
    await enter(t, vouched("s-bob", null, { groups: ["engineers"] }));
    expect(teamsOf(t, "bob@acme.example")).toEqual(["Engines:member"]);
    await directory.send("POST", "Groups", { displayName: "leads", members: [{ value: ada }] });
    await enter(t, vouched("s-bob", null, { groups: ["engineers"] }));
    await enter(t, vouched("00u-ada", null, { groups: ["engineers"] }));
    expect([teamsOf(t, "ada@acme.example"), teamsOf(t, "bob@acme.example")]).toEqual([["Engines:admin"], []]);
    await directory.send("PATCH", `Users/${bob}`, patch({ op: "Replace", path: "active", value: "False" }));
    await expect(enter(t, vouched("s-bob", null))).rejects.toThrow("closed");
    // An id that the directory gave to two people names neither.
    for (const name of ["fay", "gil"])
      await directory.send("POST", "Users", { userName: `${name}@acme.example`, externalId: "00u-two" });
    await expect(enter(t, vouched("00u-two", "someone@else.example"))).rejects.toThrow("may not let in");
  });

  it("is the same account when somebody signed in before they were provisioned", async () => {
    const { t, directory } = await withTeams();
    const { core } = t.instance;
    await changeIssuer(core, "acme", { jit: true }, COMMAND_LINE);
    const claims = { emailVerified: true, groups: ["engineers"] };
    await enter(t, vouched("00u-ada", "lovelace@acme.example", claims));
    await enter(t, vouched("s-bob", "bob@acme.example", claims));
    await add(directory, "ada", "bob");
    expect(t.rows("SELECT email FROM users ORDER BY email")).toEqual([
      { email: "ada@acme.example" },
      { email: "bob@acme.example" },
    ]);
    expect(teamsOf(t, "ada@acme.example")).toEqual(["Engines:member"]);
  });

  it("closes the account of a person who leaves, whatever its domain, if the directory knows them by the subject", async () => {
    const { t, directory } = await withTeams();
    const { core } = t.instance;
    const { id, email } = await makeAccount(core, { email: "ada@else.example" });
    await makeAccount(core, { email: "bob@else.example" });
    await linkVouched(core, getIssuer(core, "acme"), vouched("00u-ada", email), id, COMMAND_LINE);
    const made = await directory.send("POST", "Users", oktaUser(email));
    expect([made.status, account(t, email).password_hash]).toEqual([201, expect.any(String)]);
    const off = patch({ op: "replace", value: { active: false } });
    expect((await directory.send("PATCH", `Users/${made.body.id}`, off)).body.active).toBe(false);
    expect(account(t, email).open).toBe(0);
    // Nobody else's: neither by the address alone, nor another address of theirs.
    expect(outcome(await directory.send("POST", "Users", oktaUser("bob@else.example")))).toEqual([400, "invalidValue"]);
    const moved = patch({ op: "replace", path: 'emails[type eq "work"].value', value: "eve@else.example" });
    const on = patch({ op: "replace", value: { active: true } });
    expect((await directory.send("PATCH", `Users/${made.body.id}`, on)).status).toBe(200);
    expect(outcome(await directory.send("PATCH", `Users/${made.body.id}`, moved))).toEqual([400, "invalidValue"]);
  });

  it("keeps password and tokens of a linked account if the directory knows the person by the subject", async () => {
    const { t, directory } = await withTeams();
    const { core } = t.instance;
    const issuer = getIssuer(core, "acme");
    for (const name of ["ada", "bob"]) {
      const { id, email } = await makeAccount(core, { email: `${name}@acme.example` });
      await createReadToken(core, { userId: id, name }, COMMAND_LINE);
      await linkVouched(core, issuer, vouched(name === "ada" ? "00u-ada" : "s-bob", email), id, COMMAND_LINE);
    }
    await add(directory, "ada", "bob");
    const left = `SELECT email, password_hash IS NOT NULL AS password, revoked_at IS NULL AS token,
      EXISTS (SELECT 1 FROM sso_identities i WHERE i.user_id = u.id) AS link
      FROM users u JOIN read_tokens r ON r.user_id = u.id ORDER BY email`;
    expect(t.rows(left)).toEqual([
      { email: "ada@acme.example", password: 1, token: 1, link: 1 },
      // Found by the address alone, which may have been given to somebody else since.
      { email: "bob@acme.example", password: 0, token: 0, link: 0 },
    ]);
    // The right person is not locked out.
    await enter(t, vouched("s-bob", "bob@acme.example"));
    expect(t.rows(left)[1]).toMatchObject({ link: 1 });
  });

  it.each<[string, (directory: Directory, ids: readonly string[]) => Promise<unknown>]>([
    [
      "removed",
      async (directory, ids) => {
        for (const id of ids) expect((await directory.send("DELETE", `Users/${id}`)).status).toBe(204);
        return () => add(directory, "ada", "bob");
      },
    ],
    [
      "closed, and gives the name to another id",
      async (directory, ids) => {
        const off = patch({ op: "replace", value: { active: false } });
        for (const id of ids) expect((await directory.send("PATCH", `Users/${id}`, off)).status).toBe(200);
        return async () => {
          for (const [at, [name, externalId]] of [
            ["ada", "00u-ada"],
            ["bob", "00u-another-bob"],
          ].entries()) {
            const user = oktaUser(`${name}@acme.example`, { externalId });
            expect((await directory.send("PUT", `Users/${ids[at]}`, user)).status).toBe(200);
          }
        };
      },
    ],
  ])(
    "opens an account that it %s without its old tokens and machines, unless it knows the person by the subject",
    async (_, letGo) => {
      const { t, directory, engines } = await withTeams();
      const { core } = t.instance;
      const ids = await add(directory, "ada", "bob");
      const left = async () => {
        const works: number[] = [];
        for (const { read, device } of mine)
          for (const token of [read, device])
            works.push(
              (await t.get(token === read ? "/api/me/brain/context?q=x" : "/api/brain/search?q=x", { token })).status,
            );
        return works;
      };
      const mine = await Promise.all(
        ["ada@acme.example", "bob@acme.example"].map(async (email) => {
          const { id } = account(t, email);
          await setRole(core, engines.id, id, "member", COMMAND_LINE);
          const device = await t.device(engines);
          await assignDevice(core, device.deviceId, id, COMMAND_LINE);
          return { read: (await readToken(t, id)).token, device: device.token };
        }),
      );
      await enter(t, vouched("00u-ada", "ada@acme.example"));
      expect(await left()).toEqual([200, 200, 200, 200]);
      await enter(t, vouched("s-bob", "bob@acme.example"));
      const again = (await letGo(directory, ids)) as () => Promise<unknown>;
      expect(await left()).toEqual([401, 403, 401, 403]);
      await again();
      expect([account(t, "ada@acme.example").open, account(t, "bob@acme.example").open]).toEqual([1, 1]);
      expect(await left()).toEqual([200, 200, 401, 401]);
      expect(t.rows("SELECT subject FROM sso_identities")).toEqual([{ subject: "00u-ada" }]);
    },
  );

  it("applies a change of what groups mean", async () => {
    const { t, directory } = await withTeams();
    const [ada] = await add(directory, "ada");
    await directory.send("POST", "Groups", { displayName: "leads", members: [{ value: ada }] });
    for (const unread of ["leads", "=Guests:owner", "leads=Guests:boss", "le\tads=Guests:owner"])
      await expect(changeIssuer(t.instance.core, "acme", { groups: [unread] }, COMMAND_LINE)).rejects.toThrow(
        "is not GROUP",
      );
    await changeIssuer(t.instance.core, "acme", { groups: ["leads=Guests:owner"] }, COMMAND_LINE);
    expect(t.rows("SELECT pending FROM scim_users")).toEqual([{ pending: 1 }]);
    // The next request applies it, and else a job.
    await directory.send("POST", "Users", entraUser("bob"));
    expect(teamsOf(t, "ada@acme.example")).toEqual(["Guests:owner"]);
    await removeIssuer(t.instance.core, "acme", COMMAND_LINE);
    expect(teamsOf(t, "ada@acme.example")).toEqual([]);
    for (const table of ["scim_users", "scim_groups", "scim_members", "scim_tokens"]) expect(t.count(table)).toBe(0);
    expect((await directory.send("GET", "Users")).status).toBe(401);
  });
});

describe("two directories", () => {
  it("never see or touch each other's people and groups", async () => {
    const { t, directory: acme } = await withTeams();
    const other = await startDirectory(t, "other", { groups: ["engineers=Guests:member"] });
    const [ada] = await add(acme, "ada");
    const group = (await acme.send("POST", "Groups", { displayName: "engineers", members: [{ value: ada }] })).body.id;
    const [bob] = await add(other, "bob");
    for (const type of ["Users", "Groups"])
      expect((await other.send("GET", type)).body.totalResults).toBe(type === "Users" ? 1 : 0);
    for (const filter of ['userName eq "ada@acme.example"', `id eq "${ada}"`, 'emails.value eq "ada@acme.example"'])
      expect([filter, await other.find("Users", filter)]).toEqual([filter, []]);
    expect(await other.find("Groups", `id eq "${group}"`)).toEqual([]);
    const off = patch({ op: "replace", value: { active: false } });
    const rename = patch({ op: "replace", path: "displayName", value: "taken" });
    for (const [method, path, json] of [
      ["GET", `Users/${ada}`],
      ["PUT", `Users/${ada}`, oktaUser("ada@acme.example")],
      ["PATCH", `Users/${ada}`, off],
      ["DELETE", `Users/${ada}`],
      ["GET", `Groups/${group}`],
      ["PUT", `Groups/${group}`, { displayName: "taken" }],
      ["PATCH", `Groups/${group}`, rename],
      ["DELETE", `Groups/${group}`],
    ] as const) {
      const answer = await other.send(method, path, json);
      expect([method, path, answer.status]).toEqual([method, path, 404]);
    }
    const mixed = await other.send("POST", "Groups", {
      displayName: "engineers",
      members: [{ value: bob }, { value: ada }],
    });
    expect(outcome(mixed)).toEqual([400, "invalidValue"]);
    expect(t.count("scim_groups")).toBe(1);
    expect([teamsOf(t, "ada@acme.example"), teamsOf(t, "bob@acme.example")]).toEqual([["Engines:member"], []]);
    // The same person may be in both; each has a record of its own.
    const again = await other.send("POST", "Users", oktaUser("ada@acme.example"));
    expect([again.status, again.body.id === ada]).toEqual([201, false]);
  });
});

describe("requests that are taken, and those that are not", () => {
  async function fresh(): Promise<{ t: TestInstance; directory: Directory; ada: string; group: string }> {
    const { t, directory } = await withTeams();
    const [ada = ""] = await add(directory, "ada");
    const group = (await directory.send("POST", "Groups", { displayName: "engineers" })).body.id;
    return { t, directory, ada, group };
  }

  it("refuses filters that it does not understand, whatever they hold", async () => {
    const { directory, ada } = await fresh();
    const get = async (type: string, filter: string) =>
      outcome(await directory.send("GET", `${type}?filter=${encodeURIComponent(filter)}`));
    for (const filter of [
      ...['userName co "ada"', 'userName eq "a" or userName eq "b"', "userName pr", 'title eq "x"', 'not (id eq "x")'],
      ...[
        '__proto__ eq "x"',
        'constructor eq "x"',
        'members[value eq "x"]',
        'userName eq "\\x"',
        "userName eq ada",
        "eq",
      ],
      ...['emails[type eq "home"].value eq "ada@acme.example"', `id eq "${"x".repeat(1_500)}"`, `${"(".repeat(999)}`],
    ])
      for (const type of ["Users", "Groups"])
        expect([type, filter, ...(await get(type, filter))]).toEqual([type, filter, 400, "invalidFilter"]);
    for (const query of ["count=x", "startIndex=1.5", "attributes=a&attributes=b", `filter=${"x".repeat(2_001)}`])
      for (const type of ["Users", "Groups", `Users/${ada}`]) {
        const answer = await directory.send("GET", `${type}?${query}`);
        const taken = type.includes("/") && !query.startsWith("attributes");
        expect([type, query, answer.status]).toEqual([type, query, taken ? 200 : 400]);
      }
    expect((await directory.send("GET", "Groups/x?attributes=a&attributes=b")).status).toBe(400);
    // Marks of SQL's LIKE, quotes and other scripts are letters like any.
    for (const value of ["%", "_da@acme.example", "' OR 1=1 --", "ada\\\\", "аda@acme.example", "😀", ""])
      expect([value, await directory.find("Users", `userName eq "${value}"`)]).toEqual([value, []]);
    expect(await directory.find("Users", 'userName eq "\\u0061da@acme.example"')).toEqual([ada]);
    expect(await directory.find("Users", 'userName eq "ＡＤＡ@acme.example"')).toEqual([ada]);
  });

  it("refuses operations that it does not understand, and changes nothing", async () => {
    const { t, directory, ada, group } = await fresh();
    const before = JSON.stringify([
      t.rows("SELECT * FROM scim_users"),
      t.rows("SELECT * FROM scim_groups"),
      t.rows("SELECT * FROM users"),
    ]);
    const cases: [object, string, "both" | "user" | "group"][] = [
      [{ op: "move", path: "active" }, "invalidValue", "both"],
      [{ op: "remove" }, "noTarget", "both"],
      [{ op: "add", value: "x" }, "invalidValue", "both"],
      [{ op: "replace", path: "id", value: "x" }, "mutability", "both"],
      [{ op: "replace", path: "__proto__.polluted", value: "x" }, "invalidPath", "both"],
      [{ op: "replace", path: "constructor", value: "x" }, "invalidPath", "both"],
      [{ op: "replace", path: "a".repeat(5_000), value: "x" }, "invalidPath", "both"],
      [{ op: "replace", path: "emails[type pr].value", value: "x" }, "invalidPath", "both"],
      [{ op: "replace", path: "active", value: "maybe" }, "invalidValue", "user"],
      [{ op: "remove", path: "userName" }, "invalidValue", "user"],
      [{ op: "replace", path: "userName", value: "a\u0000b" }, "invalidValue", "user"],
      [{ op: "replace", path: "userName", value: "x".repeat(300) }, "invalidValue", "user"],
      [{ op: "replace", path: "userName", value: 7 }, "invalidValue", "user"],
      [{ op: "replace", path: "name", value: ["x"] }, "invalidValue", "user"],
      [{ op: "replace", path: 'emails[type eq "work"].value', value: "not an address" }, "invalidValue", "user"],
      [{ op: "add", path: "members", value: [{ value: "scu_nobody" }] }, "invalidValue", "group"],
      [{ op: "add", path: "members", value: [7] }, "invalidValue", "group"],
      [{ op: "remove", path: "members.display" }, "invalidPath", "group"],
      [{ op: "add", path: "members", value: Array(10_001).fill("x") }, "invalidValue", "group"],
      [{ op: "add", path: 'members[value eq "x"]', value: [] }, "invalidPath", "group"],
      [{ op: "remove", path: "displayName" }, "invalidValue", "group"],
    ];
    for (const [operation, type, of] of cases)
      for (const path of [...(of === "group" ? [] : [`Users/${ada}`]), ...(of === "user" ? [] : [`Groups/${group}`])]) {
        const answer = await directory.send(
          "PATCH",
          path,
          patch({ op: "replace", path: "externalId", value: "y" }, operation),
        );
        expect([path, operation, ...outcome(answer)]).toEqual([path, operation, 400, type]);
      }
    for (const body of [
      {},
      { Operations: "x" },
      { Operations: [] },
      { Operations: [1] },
      { Operations: Array(1_001).fill({ op: "add", value: {} }) },
      { Operations: [{ op: "add", value: Object.fromEntries(Array.from({ length: 1_001 }, (_, i) => [`a${i}`, 1])) }] },
    ])
      expect(outcome(await directory.send("PATCH", `Users/${ada}`, body))).toEqual([400, "invalidValue"]);
    const deep = `{"Operations":${"[".repeat(70)}${"]".repeat(70)}}`;
    expect(outcome(await directory.send("PATCH", `Users/${ada}`, undefined, { body: deep }))).toEqual([
      400,
      "invalidSyntax",
    ]);
    const proto =
      '{"__proto__":{"userName":"x"},"constructor":{},"Operations":[{"op":"add","value":{"__proto__":{"active":false}}}]}';
    expect(outcome(await directory.send("PATCH", `Users/${ada}`, undefined, { body: proto }))).toEqual([
      400,
      "invalidPath",
    ]);
    expect(
      JSON.stringify([
        t.rows("SELECT * FROM scim_users"),
        t.rows("SELECT * FROM scim_groups"),
        t.rows("SELECT * FROM users"),
      ]),
    ).toBe(before);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
    for (const json of [{ displayName: "ENGINEERS" }, { displayName: "x", members: [{ value: "x" }] }, {}])
      expect((await directory.send("POST", "Groups", json)).status).toBe(
        "members" in json || !("displayName" in json) ? 400 : 409,
      );
    const second = (await directory.send("POST", "Groups", { displayName: "leads" })).body.id;
    expect(outcome(await directory.send("PUT", `Groups/${second}`, { displayName: "engineers" }))).toEqual([
      409,
      "uniqueness",
    ]);
    expect(outcome(await directory.send("PUT", `Groups/${second}`, {}))).toEqual([400, "invalidValue"]);
    expect(
      outcome(
        await directory.send(
          "PATCH",
          `Groups/${second}`,
          patch({ op: "replace", value: { displayName: "engineers" } }),
        ),
      ),
    ).toEqual([409, "uniqueness"]);
  });

  it("pages, shows what is asked for, and tells what it understands", async () => {
    const { t, directory } = await withTeams();
    for (const name of ["a", "b", "c", "d", "e"]) {
      await add(directory, name);
      t.clock.advance(1);
    }
    const page = async (query: string) => {
      const { body } = await directory.send("GET", `Users?${query}`);
      const { totalResults, startIndex, itemsPerPage, Resources } = body;
      return [
        totalResults,
        startIndex,
        itemsPerPage,
        Resources.map(({ externalId }: { externalId: string }) => externalId.slice(4)).join(""),
      ];
    };
    expect(await page("startIndex=2&count=2")).toEqual([5, 2, 2, "bc"]);
    expect(await page("startIndex=0&count=1")).toEqual([5, 1, 1, "a"]);
    expect(await page("startIndex=9")).toEqual([5, 9, 0, ""]);
    expect(await page("count=-1")).toEqual([5, 1, 0, ""]);
    expect(await page("count=999999999")).toEqual([5, 1, 5, "abcde"]);
    const one = await directory.send("GET", "Users?count=1&attributes=userName,emails.value");
    expect(Object.keys(one.body.Resources[0])).toEqual(["schemas", "id", "userName", "emails"]);
    const less = await directory.send("GET", "Users?count=1&excludedAttributes=Name,meta,groups,emails,active");
    expect(Object.keys(less.body.Resources[0])).toEqual(["schemas", "id", "externalId", "userName", "displayName"]);
    const config = (await directory.send("GET", "ServiceProviderConfig")).body;
    expect([config.patch.supported, config.bulk.supported, config.filter]).toEqual([
      true,
      false,
      { supported: true, maxResults: 200 },
    ]);
    const types = (await directory.send("GET", "ResourceTypes")).body;
    expect(types.Resources.map(({ endpoint }: { endpoint: string }) => endpoint)).toEqual(["/Users", "/Groups"]);
    const described = (await directory.send("GET", "Schemas")).body;
    expect(described.totalResults).toBe(2);
    for (const one of [...types.Resources, ...described.Resources]) {
      const path = one.meta.location.split("/scim/v2/")[1];
      expect((await directory.send("GET", path)).body).toEqual(one);
      expect((await directory.send("GET", encodeURIComponent(path).replace("%2F", "/"))).body).toEqual(one);
    }
    const linked = described.Resources.flatMap(({ attributes }: { attributes: Described[] }) =>
      attributes.flatMap(({ subAttributes = [] }) => subAttributes.filter(({ type }) => type === "reference")),
    );
    expect(linked.map(({ referenceTypes }: Described) => referenceTypes)).toEqual([["Group"], ["User"]]);
    for (const path of [
      "ResourceTypes/Role",
      "Schemas/urn:ietf:params:scim:schemas:core:2.0:Role",
      "Me",
      "Users/one/two",
      "",
    ]) {
      const none = await directory.send("GET", path);
      expect([none.status, none.body.status, none.headers.get("content-type")]).toEqual([404, "404", SCIM_TYPE]);
    }
    const put = await t.call("PUT", "/scim/v2/Users", { token: directory.token });
    expect([put.headers.get("allow"), put.headers.get("content-type")]).toEqual(["GET, HEAD, POST", SCIM_TYPE]);
    expect(put.body).toMatchObject({ schemas: ["urn:ietf:params:scim:api:messages:2.0:Error"], status: "405" });
    expect((await directory.send("POST", "Bulk", {})).body).toMatchObject({ status: "404" });
    const ada = (await directory.send("GET", "Users?count=1")).body.Resources[0].id;
    expect((await t.post(`/scim/v2/Users/${ada}`, { token: directory.token })).headers.get("allow")).toBe(
      "GET, HEAD, PUT, PATCH, DELETE",
    );
    expect((await t.get("/scim/v2/Users")).body).toMatchObject({ status: "401", detail: expect.any(String) });
  });
});

describe("bounds", () => {
  /** Fills a directory with people, straight into the tables. */
  function fill(t: TestInstance, { issuer }: Directory, count: number): string[] {
    const { db } = t.instance.core.store;
    const ids = Array.from({ length: count }, (_, at) => String(at).padStart(5, "0"));
    const user = db.prepare("INSERT INTO users (id, email, email_key, operator, created_at) VALUES (@u, @e, @e, 0, 0)");
    const record = db.prepare(
      `INSERT INTO scim_users (id, issuer_id, user_id, user_name, user_key, closed, pending, created_at, updated_at)
       VALUES (@s, @i, @u, @e, @e, 0, 0, 0, 0)`,
    );
    db.transaction(() => {
      for (const at of ids) {
        const row = { u: `usr_${at}`, e: `p${at}@acme.example`, s: `scu_${at}`, i: issuer.id };
        user.run(row);
        record.run(row);
      }
    })();
    return ids.map((at) => `scu_${at}`);
  }

  it("takes a thousand members at once without holding up others", async () => {
    const { t, directory } = await withTeams();
    const ids = fill(t, directory, 1_000);
    const { id } = (await directory.send("POST", "Groups", { displayName: "engineers" })).body;
    const members = ids.map((value) => ({ value }));
    // Others get their turn between: once for each part of the people, at least.
    const { done: answer, turns } = await turnsOfOthers(t.instance.core, () =>
      directory.send("PATCH", `Groups/${id}`, patch({ op: "Add", path: "members", value: members })),
    );
    expect([answer.status, t.count("memberships"), t.count("scim_members")]).toEqual([204, 1_000, 1_000]);
    expect(turns).toBeGreaterThan(500);
    expect((await directory.send("GET", `Groups/${id}`)).body.members).toHaveLength(1_000);
  });

  it("sets ten thousand members step by step, each step on the record, and the same again changes nothing", async () => {
    const { t, directory } = await withTeams();
    const ids = fill(t, directory, 10_000);
    const { id } = (await directory.send("POST", "Groups", { displayName: "nobody's" })).body;
    const put = (members: readonly string[], displayName = "nobody's") =>
      directory.send("PUT", `Groups/${id}`, { displayName, members: members.map((value) => ({ value })) });
    const steps = () =>
      t
        .rows("SELECT detail FROM audit_events WHERE action = 'scim.group_changed' ORDER BY id")
        .map(({ detail }) => JSON.parse(detail as string) as { added: number; removed: number });
    const answer = await put(ids);
    expect([answer.status, answer.body.members.length, t.count("scim_members")]).toEqual([200, 10_000, 10_000]);
    expect(steps()).toHaveLength(40);
    expect(new Set(steps().map(({ added }) => added))).toEqual(new Set([250]));
    expect([(await put(ids)).status, steps().length]).toEqual([200, 40]);
    // Members who leave are removed first, and the new name comes along.
    const some = ids.slice(9_900);
    expect((await put(some, "somebody's")).body).toMatchObject({ displayName: "somebody's" });
    expect(t.rows("SELECT member_id AS id FROM scim_members ORDER BY member_id").map((row) => row.id)).toEqual(
      some.toSorted(),
    );
    expect(steps()[40]).toEqual({ from: "nobody's", added: 0, removed: 250 });
    // One unknown member among many: nothing of the request is done.
    const before = t.rows("SELECT * FROM scim_members");
    expect((await put([...ids.slice(0, 600), "scu_none"])).status).toBe(400);
    expect([t.rows("SELECT * FROM scim_members"), t.rows("SELECT 1 FROM scim_users WHERE pending = 1")]).toEqual([
      before,
      [],
    ]);
    expect((await directory.send("DELETE", `Groups/${id}`)).status).toBe(204);
    expect([t.count("scim_members"), t.count("scim_groups")]).toEqual([0, 0]);
  });

  it("renames a group of ten thousand without marking all of them in one transaction", async () => {
    const { t, directory, engines: team } = await withTeams();
    const ids = fill(t, directory, 10_000);
    const { id } = (await directory.send("POST", "Groups", { displayName: "nobody's" })).body;
    const { store } = t.instance.core;
    const join = store.db.prepare("INSERT INTO scim_members (group_id, member_id) VALUES (?, ?)");
    await store.write(() => {
      for (const one of ids) join.run(id, one);
    });
    let [most, before, transactions] = [0, store.stats.changes, store.stats.transactions];
    Object.defineProperty(store.stats, "transactions", {
      get: () => transactions,
      set(count: number) {
        transactions = count;
        const now = Number(store.db.prepare("SELECT total_changes()").pluck().get());
        most = Math.max(most, now - before);
        before = now;
      },
    });
    before = Number(store.db.prepare("SELECT total_changes()").pluck().get());
    const rename = patch({ op: "replace", path: "displayName", value: "engineers" });
    expect((await directory.send("PATCH", `Groups/${id}`, rename)).status).toBe(204);
    expect(t.rows("SELECT count(*) AS n FROM memberships WHERE team_id = ?", team.id)).toEqual([{ n: 10_000 }]);
    expect(t.rows("SELECT 1 FROM scim_users WHERE pending = 1")).toEqual([]);
    expect(most).toBeLessThan(1_000);
  });

  it("leaves exactly one of several sets that are asked for at the same time", async () => {
    const { t, directory } = await withTeams();
    const ids = fill(t, directory, 1_500);
    const { id } = (await directory.send("POST", "Groups", { displayName: "engineers" })).body;
    const sets = [ids.slice(0, 700), ids.slice(600, 1_400), ids.slice(1_400)];
    const put = (members: readonly string[]) =>
      directory.send("PUT", `Groups/${id}`, {
        displayName: "engineers",
        members: members.map((value) => ({ value })),
      });
    const answers = await Promise.all(sets.map(put));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    const left = t.rows("SELECT member_id AS id FROM scim_members").map((row) => row.id);
    expect(sets.map((set) => JSON.stringify(set.toSorted()))).toContain(JSON.stringify(left.toSorted()));
    // The teams follow the same set.
    expect(t.count("memberships")).toBe(left.length);
    const [, gone] = await Promise.all([put(sets[0] ?? []), directory.send("DELETE", `Groups/${id}`)]);
    expect([gone.status, t.count("scim_groups"), t.count("scim_members"), t.count("memberships")]).toEqual([
      204, 0, 0, 0,
    ]);
  });

  it("stops at ten thousand people and groups", async () => {
    const { t, directory } = await withTeams();
    fill(t, directory, 10_000);
    const more = await directory.send("POST", "Users", oktaUser("more@acme.example"));
    expect([more.status, more.body.detail, t.count("users")]).toEqual([403, expect.stringContaining("10000"), 10_000]);
    const last = await directory.send("GET", "Users?startIndex=9990&count=200");
    expect([last.body.totalResults, last.body.Resources.length]).toEqual([10_000, 11]);
    expect((await directory.send("GET", "Users?count=10000")).body.Resources).toHaveLength(200);
    t.instance.core.store.db
      .prepare(
        `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000)
         INSERT INTO scim_groups (id, issuer_id, display_name, display_key, created_at, updated_at) SELECT 'scg_' || i, ?, i, i, 0, 0 FROM n`,
      )
      .run(directory.issuer.id);
    expect((await directory.send("POST", "Groups", { displayName: "more" })).status).toBe(403);
    // All their people in one page of groups would be a hundred megabytes.
    t.instance.core.store.db
      .prepare(
        "INSERT INTO scim_members SELECT g.id, u.id FROM scim_users u JOIN (SELECT id FROM scim_groups ORDER BY id LIMIT 3) g",
      )
      .run();
    const page = (await directory.send("GET", "Groups?count=200")).body;
    expect([page.totalResults, page.itemsPerPage, page.Resources[0].members.length]).toEqual([10_000, 1, 10_000]);
    expect((await directory.send("GET", "Groups?count=200&excludedAttributes=members")).body.itemsPerPage).toBe(200);
  });

  it("goes on with what a process left undone when it ended", async () => {
    const { t, directory } = await withTeams();
    const [ada] = await add(directory, "ada");
    t.instance.core.store.db
      .prepare(
        "INSERT INTO scim_groups (id, issuer_id, display_name, display_key, created_at, updated_at) VALUES ('g', ?, 'leads', 'leads', 0, 0)",
      )
      .run(directory.issuer.id);
    t.instance.core.store.db.prepare("INSERT INTO scim_members VALUES ('g', ?)").run(ada);
    t.instance.core.store.db.prepare("UPDATE scim_users SET pending = 1").run();
    const { scim } = await import("../../src/identity/scim/room.ts");
    for (const job of scim.jobs ?? []) if ("run" in job) await job.run(t.instance.core);
    expect(teamsOf(t, "ada@acme.example")).toEqual(["Engines:admin"]);
    expect(t.rows("SELECT pending FROM scim_users")).toEqual([{ pending: 0 }]);
  });
});

describe("tokens", () => {
  it("are stored as digests, two at most, tell when they were used, and end at once", async () => {
    const t = await startInstance();
    const { core } = t.instance;
    const { issuer, token, send } = await startDirectory(t);
    expect(token).toMatch(/^rkp_[0-9A-Za-z]{36}$/);
    expect(filesWith(t.directory, token)).toEqual([]);
    const next = await createScimToken(core, issuer, COMMAND_LINE);
    await expect(createScimToken(core, issuer, COMMAND_LINE)).rejects.toThrow("revoke one first");
    expect((await send("GET", "Users")).status).toBe(200);
    t.clock.advance(MINUTE_MS / 2);
    await send("GET", "Users");
    const first = listScimTokens(core, issuer.id).find(({ id }) => id !== next.id);
    expect(first?.lastUsedAt).toBe(t.clock.now() - MINUTE_MS / 2);
    expect(await revokeScimToken(core, issuer, first?.id as string, COMMAND_LINE)).toBe(true);
    expect(await revokeScimToken(core, issuer, first?.id as string, COMMAND_LINE)).toBe(false);
    expect((await send("GET", "Users")).status).toBe(401);
    expect((await send("GET", "Users", undefined, { token: next.token })).status).toBe(200);
    // Nor for a request that was on its way when the token ended.
    const ends = revokeScimToken(core, issuer, next.id, COMMAND_LINE);
    const late = send("POST", "Users", oktaUser("late@acme.example"), { token: next.token });
    expect([await ends, (await late).status, t.count("users")]).toEqual([true, 401, 0]);
    const other = await startDirectory(t, "other");
    await expect(revokeScimToken(core, other.issuer, next.id, COMMAND_LINE)).rejects.toThrow("no such SCIM token");
  });
});

it("forgets a person with their records, and every address they had", async () => {
  const { t, directory } = await withTeams();
  const { core } = t.instance;
  const [zinnia] = await add(directory, "zinnia");
  const team = await t.team();
  await setRole(core, team.id, "zinnia@acme.example", "owner", COMMAND_LINE);
  const by = {
    kind: "user",
    id: account(t, "zinnia@acme.example").id,
    label: "zinnia@acme.example",
    ip: null,
  } as const;
  await createCode(core, team.id, by);
  await directory.send("POST", "Groups", { displayName: "engineers", members: [{ value: zinnia }] });
  const to = { op: "replace", path: 'emails[type eq "work"].value', value: "marigold@acme.example" };
  await directory.send(
    "PATCH",
    `Users/${zinnia}`,
    patch(to, { op: "replace", path: "name.givenName", value: "Lavender" }),
  );
  await core.store.reclaim();
  for (const text of ["zinnia", "marigold", "Lavender"]) expect(filesWith(t.directory, text)).not.toEqual([]);
  const target = resolveTarget(core, { person: "marigold@acme.example" });
  await carryOut(core, await requestErasure(core, target, "they wanted it", COMMAND_LINE));
  for (const text of ["zinnia", "marigold", "Lavender"])
    expect([text, filesWith(t.directory, text)]).toEqual([text, []]);
  for (const table of ["scim_users", "scim_members", "former_addresses"]) expect(t.count(table)).toBe(0);
  expect(ledgerFaults(core)).toEqual([]);
  expect((await directory.send("GET", `Users/${zinnia}`)).status).toBe(404);
});

describe("an address that is another's now", () => {
  /** Zinnia, who was renamed and did something before and since, and whoever has her address since; both own a team. */
  async function twoOfOneAddress() {
    const { t, directory, engines } = await withTeams();
    const { core } = t.instance;
    const email = "zinnia@acme.example";
    const acts = async (name: string, label: string, ip: string) => {
      const by = { kind: "user", id: account(t, label).id, label, ip } as const;
      await createCode(core, engines.id, by);
      await createInvitation(core, { teamId: engines.id, role: "member", email: `${name}@else.example` }, by);
      await setRole(core, engines.id, by.id, "admin", COMMAND_LINE);
      await createApiToken(core, { name, teamId: engines.id, userId: by.id }, by);
      return by.id;
    };
    const [zinnia] = await add(directory, "zinnia");
    await acts("before", email, "192.0.2.1");
    const to = { op: "replace", path: 'emails[type eq "work"].value', value: "marigold@acme.example" };
    await directory.send("PATCH", `Users/${zinnia}`, patch(to, { op: "replace", path: "userName", value: to.value }));
    const former = await acts("since", "marigold@acme.example", "192.0.2.1");
    await directory.send("POST", "Users", oktaUser(email, { externalId: "00u-another" }));
    const holder = await acts("holder", email, "192.0.2.7");
    await createInvitation(core, { teamId: engines.id, role: "owner", email }, COMMAND_LINE);
    const erase = async (person: string) => eraseNow(core, { person });
    const deeds = () =>
      t.rows(
        "SELECT actor_id AS id, actor_label AS label, ip FROM audit_events WHERE action = 'code.created' ORDER BY audit_events.id",
      );
    const links = () =>
      t.rows(
        `SELECT l.email, coalesce(u.email, created_by) AS by FROM one_time_links l LEFT JOIN users u ON u.id = created_by
         ORDER BY l.created_at, l.id`,
      );
    return { t, email, former, holder, erase, deeds, links };
  }

  it("stays with its present holder when the former holder is erased", async () => {
    const { t, email, former, holder, erase, deeds, links } = await twoOfOneAddress();
    await erase(former);
    const gone = { id: former, label: `erased-${former}`, ip: null };
    expect(deeds()).toEqual([gone, gone, { id: holder, label: email, ip: "192.0.2.7" }]);
    expect(links()).toContainEqual({ email: "holder@else.example", by: email });
    expect(links()).toContainEqual({ email, by: "command line" });
    expect(t.rows("SELECT email FROM users WHERE id = ?", holder)).toEqual([{ email }]);
    expect(ledgerFaults(t.instance.core)).toEqual([]);
  });

  it("tells each of the two in their archive what they did, and nothing of the other", async () => {
    const { t, former, holder } = await twoOfOneAddress();
    for (const [person, ip, deeds] of [
      [former, "192.0.2.1", 2],
      [holder, "192.0.2.7", 1],
    ] as const) {
      const parts: string[] = [];
      for await (const part of partsOf(t.instance.core, resolveScope(t.instance.core, { person })))
        if ("lines" in part && part.lines === "audit") parts.push(part.text);
      const events = parts
        .join("")
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line));
      const codes = events.filter(({ action }) => action === "code.created");
      expect(codes.map((code) => [code.actorId, code.ip])).toEqual(Array(deeds).fill([person, ip]));
      expect(events.some(({ action }) => action === "user.created")).toBe(true);
    }
  });

  it("takes nothing from its former holder when the present holder is erased", async () => {
    const { t, email, former, holder, erase, deeds, links } = await twoOfOneAddress();
    await erase(holder);
    expect(deeds()).toEqual([
      { id: former, label: email, ip: "192.0.2.1" },
      { id: former, label: "marigold@acme.example", ip: "192.0.2.1" },
      { id: holder, label: `erased-${holder}`, ip: null },
    ]);
    // A token's owner who was recorded by the shared address alone could be either, so the event names nobody any more.
    const owners =
      "SELECT detail ->> 'owner' AS owner FROM audit_events WHERE action = 'api_token.created' ORDER BY id";
    expect(t.rows(owners).map(({ owner }) => owner)).toEqual(["erased", "marigold@acme.example", `erased-${holder}`]);
    expect(links().map((link) => link.email)).not.toContain(email);
  });
});

it("erases an invitation to a person however their address was typed", async () => {
  const { t, engines } = await withTeams();
  const { core } = t.instance;
  await createInvitation(core, { teamId: engines.id, role: "member", email: "Ümit.Ölçer@else.example" }, COMMAND_LINE);
  const { id } = await makeAccount(core, { email: "ümit.ölçer@ELSE.example" });
  await eraseNow(core, { person: id });
  expect([t.count("one_time_links"), filesWith(t.directory, "mit.")]).toEqual([0, []]);
});
