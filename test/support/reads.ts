import { expect } from "vitest";
import { setRole } from "../../src/identity/members/members.ts";
import type { ReadScope } from "../../src/identity/read-tokens/read-tokens.ts";
import { createReadToken } from "../../src/identity/read-tokens/read-tokens.ts";
import { COMMAND_LINE } from "../../src/platform/audit/audit.ts";
import { person } from "./cli.ts";
import type { TestDevice, TestInstance } from "./instance.ts";

/** Makes somebody who is in these teams. */
export async function memberOf(t: TestInstance, ...teams: readonly { readonly id: string }[]) {
  const user = await person(t);
  for (const team of teams) await setRole(t.instance.core, team.id, user.id, "member", COMMAND_LINE);
  return user;
}

/** Makes a read token. */
export const readToken = (t: TestInstance, userId: string, scope: Partial<ReadScope> = {}, lifetimeMs?: number) =>
  createReadToken(t.instance.core, { userId, name: "assistant", scope, lifetimeMs: lifetimeMs ?? null }, COMMAND_LINE);

/** Sends a snapshot of a repository, which is taken. */
export async function publish(
  t: TestInstance,
  { token }: Pick<TestDevice, "token">,
  files: Readonly<Record<string, string>>,
  { repoKey, version = 1 }: { readonly repoKey?: string; readonly version?: number } = {},
): Promise<void> {
  const list = Object.entries(files).map(([path, content]) => ({ path, content }));
  expect((await t.post("/api/brain/ingest", { token, json: { version, repoKey, files: list } })).status).toBe(200);
}
