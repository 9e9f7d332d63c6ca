import { GROUP_SCHEMA, USER_SCHEMA } from "./resources.ts";

/** One person and one group, for the documents; without `$ref`, which generators of clients take for a part of the document. */

const BASE = "https://reckon.example.com/scim/v2";
const META = { created: "2026-11-20T14:00:00.000Z", lastModified: "2026-11-20T14:00:00.000Z" };
const USER_ID = "scu_06bn7k3v8ss0xbe2w5g6p8hq3c";
const GROUP_ID = "scg_06bn7k3v8ss0xbe2w5g6p8hq3d";

export const USER_BODY = {
  schemas: [USER_SCHEMA],
  userName: "ada@acme.example",
  externalId: "00u1a2b3c4",
  name: { givenName: "Ada", familyName: "Lovelace" },
  emails: [{ primary: true, value: "ada@acme.example", type: "work" }],
  active: true,
};

export const USER_EXAMPLE = {
  schemas: [USER_SCHEMA],
  id: USER_ID,
  externalId: "00u1a2b3c4",
  userName: "ada@acme.example",
  name: { familyName: "Lovelace", givenName: "Ada" },
  emails: [{ value: "ada@acme.example", type: "work", primary: true }],
  active: true,
  groups: [{ value: GROUP_ID, display: "engineers" }],
  meta: { resourceType: "User", ...META, location: `${BASE}/Users/${USER_ID}` },
};

export const GROUP_BODY = { schemas: [GROUP_SCHEMA], displayName: "engineers", externalId: "8aa1a0c0", members: [] };

export const GROUP_EXAMPLE = {
  schemas: [GROUP_SCHEMA],
  id: GROUP_ID,
  externalId: "8aa1a0c0",
  displayName: "engineers",
  members: [{ value: USER_ID, display: "ada@acme.example" }],
  meta: { resourceType: "Group", ...META, location: `${BASE}/Groups/${GROUP_ID}` },
};
