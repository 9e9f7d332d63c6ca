import type { Core } from "../../src/core.ts";
import { signIn } from "../../src/identity/sign-in/sign-in.ts";
import type { Origin } from "../../src/identity/web-sessions/web-sessions.ts";
import type { TestInstance } from "./instance.ts";

/** Signs somebody in who has no second factor. */
export async function signedIn(
  core: Core,
  email: string,
  password: string,
  origin: Origin,
): Promise<{ readonly session: string }> {
  const entered = await signIn(core, email, password, origin);
  if (!("session" in entered)) throw new Error(`${email} was asked for a second factor`);
  return entered;
}

/** The number of an agent's session, as addresses of pages have it. */
export const sessionNumber = ({ t }: { readonly t: TestInstance }, externalId: string): number =>
  t.rows("SELECT id FROM trace_sessions WHERE external_id = ?", externalId)[0].id;
