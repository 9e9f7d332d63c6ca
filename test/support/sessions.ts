import type { Core } from "../../src/core.ts";
import { signIn } from "../../src/identity/sign-in/sign-in.ts";
import type { Origin } from "../../src/identity/web-sessions/web-sessions.ts";

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
