import { createCliToken, decideAuthorization } from "../../src/identity/device-flow/device-flow.ts";
import { COMMAND_LINE } from "../../src/platform/audit/audit.ts";
import { makeAccount } from "./accounts.ts";
import type { Ask, TestInstance } from "./instance.ts";

export interface Person {
  readonly id: string;
  readonly email: string;
}

let people = 0;

/** Makes an account. */
export async function person(t: TestInstance, email = `person${++people}@example.com`): Promise<Person> {
  return makeAccount(t.instance.core, { email });
}

export interface Waiting {
  readonly deviceCode: string;
  readonly userCode: string;
}

/** Starts a device authorization as a tool does. */
export async function waiting(t: TestInstance, ask: Ask = {}): Promise<Waiting> {
  const { body } = await t.post("/api/cli/device/code", ask);
  return { deviceCode: body.device_code, userCode: body.user_code };
}

/** Starts one that a person has answered. */
export async function answered(
  t: TestInstance,
  decision: "approved" | "denied" = "approved",
  by?: Person,
): Promise<Waiting & { readonly user: Person }> {
  const user = by ?? (await person(t));
  const started = await waiting(t, { json: { channel: "npm" } });
  await decideAuthorization(t.instance.core, started.userCode, decision, user, COMMAND_LINE);
  return { ...started, user };
}

/** Polls as a tool does. */
export const poll = (t: TestInstance, deviceCode: string, ask: Ask = {}) =>
  t.post("/api/cli/device/token", { json: { device_code: deviceCode }, ...ask });

/** A person's access token. */
export async function cliToken(t: TestInstance, user?: Person) {
  return createCliToken(t.instance.core, user ?? (await person(t)), COMMAND_LINE);
}
