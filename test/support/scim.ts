import { expect } from "vitest";
import { createScimToken } from "../../src/identity/directory/directory.ts";
import { addIssuer, type Issuer, type IssuerChange } from "../../src/identity/sso/sso.ts";
import { COMMAND_LINE } from "../../src/platform/audit/audit.ts";
import { type Answer, type Ask, startInstance, type TestInstance } from "./instance.ts";

/** An issuer's directory, as it provisions. */
export interface Directory {
  readonly issuer: Issuer;
  readonly token: string;
  /** @param path below `/scim/v2/` */
  send(method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE", path: string, json?: unknown, ask?: Ask): Promise<Answer>;
  /** The ids of who is found. */
  find(type: "Users" | "Groups", filter: string): Promise<string[]>;
}

/** Adds an issuer with a SCIM token. */
export async function startDirectory(t: TestInstance, name = "acme", change: IssuerChange = {}): Promise<Directory> {
  const { core } = t.instance;
  const issuer = await addIssuer(
    core,
    name,
    {
      issuer: `https://${name}.example/`,
      clientId: "reckon",
      domains: ["acme.example"],
      ...change,
    },
    COMMAND_LINE,
  );
  const { token } = await createScimToken(core, issuer, COMMAND_LINE);
  const send: Directory["send"] = (method, path, json, ask = {}) => {
    const body = json === undefined ? {} : { body: JSON.stringify(json) };
    const sends = json !== undefined || ask.body !== undefined;
    const headers = { ...(sends ? { "content-type": "application/scim+json; charset=utf-8" } : {}), ...ask.headers };
    return t.call(method, `/scim/v2/${path}`, { token, ...body, ...ask, headers });
  };
  const find: Directory["find"] = async (type, filter) => {
    const { body } = await send("GET", `${type}?filter=${encodeURIComponent(filter)}`);
    return body.Resources.map(({ id }: { id: string }) => id);
  };
  return { issuer, token, send, find };
}

/** Somebody as Okta creates them. */
export const oktaUser = (userName: string, more: object = {}) => ({
  schemas: ["urn:ietf:params:scim:schemas:core:2.0:User"],
  userName,
  name: { givenName: "Test", familyName: "User" },
  emails: [{ primary: true, value: userName, type: "work" }],
  displayName: "Test User",
  locale: "en-US",
  externalId: `00u-${userName.split("@")[0]}`,
  groups: [],
  password: "1mz050nq",
  active: true,
  ...more,
});

export const ENTERPRISE = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User";

/** Somebody as Entra ID creates them. */
export const entraUser = (name: string, more: object = {}) => ({
  schemas: ["urn:ietf:params:scim:schemas:core:2.0:User", ENTERPRISE],
  externalId: `0a21f0f2-${name}`,
  userName: `${name}@acme.example`,
  active: true,
  addresses: [{ formatted: null, type: "work", country: "IE" }],
  displayName: `${name} Doe`,
  emails: [{ primary: true, type: "work", value: `${name}@acme.example` }],
  meta: { resourceType: "User" },
  name: { formatted: `${name} Doe`, familyName: "Doe", givenName: name },
  phoneNumbers: [{ type: "work", value: "+353 1 555 0100" }],
  roles: [],
  title: "Engineer",
  [ENTERPRISE]: {
    department: "R&D",
    employeeNumber: "4711",
    manager: { value: "26118915-6090-4610-87e4-49d8ca9f808d" },
  },
  ...more,
});

/** Operations, in the words of who sends them. */
export const patch = (...Operations: readonly object[]) => ({
  schemas: ["urn:ietf:params:scim:api:messages:2.0:PatchOp"],
  Operations,
});

/** The teams of somebody, with their roles. */
export const teamsOf = (t: TestInstance, email: string) =>
  t
    .rows(
      `SELECT teams.name, role FROM memberships JOIN teams ON teams.id = team_id JOIN users ON users.id = user_id
       WHERE email = ? ORDER BY teams.name`,
      email,
    )
    .map(({ name, role }) => `${name}:${role}`);
/** An account as it is stored. */
export const account = (t: TestInstance, email: string) =>
  t.rows("SELECT id, name, password_hash, operator, disabled_at IS NULL AS open FROM users WHERE email = ?", email)[0];

/** Provisions people as Okta does. @returns their ids */
export async function add(directory: Directory, ...names: readonly string[]): Promise<string[]> {
  const ids: string[] = [];
  for (const name of names) {
    const { status, body } = await directory.send("POST", "Users", oktaUser(`${name}@acme.example`));
    expect([name, status]).toEqual([name, 201]);
    ids.push(body.id);
  }
  return ids;
}

/** An instance with a directory whose groups mean teams. */
export async function withTeams() {
  const t = await startInstance();
  const engines = await t.team({ name: "Engines" });
  const guests = await t.team({ name: "Guests" });
  const groups = ["engineers=Engines:member", "leads=Engines:admin", "8aa1a0c0=Guests:member"];
  const directory = await startDirectory(t, "acme", { groups });
  return { t, engines, guests, directory };
}
