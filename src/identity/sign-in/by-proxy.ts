import type { Core } from "../../core.ts";
import { DAY_MS } from "../../kit/clock.ts";
import { recordEvent } from "../../platform/audit/audit.ts";
import { findUserByEmail } from "../people/people.ts";
import { type Origin, storeSession } from "../web-sessions/web-sessions.ts";

/**
 * Signs in the person whom a trusted proxy names. Nothing else is believed of the proxy: somebody without an account is not let in, and
 * operators are not, because whoever can set the header would run the installation.
 * @returns the session's token; undefined for somebody who is not let in
 */
export async function signInByProxy(core: Core, email: string, origin: Origin): Promise<string | undefined> {
  return core.store.write(() => {
    const user = findUserByEmail(core, email.slice(0, 300));
    if (user?.disabledAt !== null || user.operator === 1) return undefined;
    const session = storeSession(core, user.id, origin, { method: "proxy", lifetimeMs: DAY_MS });
    recordEvent(
      core,
      { kind: "user", id: user.id, label: user.email, ip: origin.ip },
      {
        action: "session.started",
        teamId: null,
        target: { kind: "session", id: session.id },
        detail: { by: "proxy" },
      },
    );
    return session.token;
  });
}
