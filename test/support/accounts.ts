import { argon2Sync } from "node:crypto";
import type { Core } from "../../src/core.ts";
import type { Role } from "../../src/identity/members/members.ts";
import { storeMember } from "../../src/identity/members/members.ts";
import { emailKey, storeUser, type User } from "../../src/identity/people/people.ts";
import { newId } from "../../src/kit/ids.ts";
import { COMMAND_LINE } from "../../src/platform/audit/audit.ts";

/** The password of every account of `makeAccount`. */
export const PASSWORD = "plough-the-north-field";

/** Its hash as it is stored, of the cheapest kind: a real one takes a core for 40 ms, for each of hundreds of people. */
const HASH = cheapestHash(PASSWORD);

function cheapestHash(password: string): string {
  const nonce = Buffer.alloc(16);
  const cost = { memory: 8, passes: 1, parallelism: 1, tagLength: 32 };
  const tag = argon2Sync("argon2id", { message: password, nonce, ...cost });
  const base64 = (bytes: Buffer) => bytes.toString("base64").replace(/=+$/, "");
  return `$argon2id$v=19$m=${cost.memory},t=${cost.passes},p=${cost.parallelism}$${base64(nonce)}$${base64(tag)}`;
}

export interface Account {
  readonly email: string;
  readonly name?: string | null;
  readonly operator?: boolean;
  readonly team?: { readonly id: string; readonly role: Role };
}

/** Makes an account whose password, which signs in, costs next to nothing. Accounts as people make them are made by `createUser`. */
export async function makeAccount(core: Core, { email, name = null, operator = false, team }: Account): Promise<User> {
  const user: User = {
    id: newId("usr", core.clock, core.random),
    email,
    emailKey: emailKey(email),
    name,
    passwordHash: HASH,
    operator: operator ? 1 : 0,
    createdAt: core.clock.now(),
    disabledAt: null,
  };
  await core.store.write(() => {
    storeUser(core, user, COMMAND_LINE);
    if (team) storeMember(core, team.id, user, team.role, COMMAND_LINE);
  });
  return user;
}
