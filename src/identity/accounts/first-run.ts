import { ConfigError } from "../../config.ts";
import type { Core } from "../../core.ts";
import { Problem } from "../../kit/problem.ts";
import { SYSTEM } from "../../platform/audit/audit.ts";
import { createSetupLink, type OneTimeLink } from "./links.ts";
import { createUser, hasUsers } from "./users.ts";

/** What a server does at its start while nobody has an account. */
export type FirstRun =
  | { readonly did: "nothing" }
  | { readonly did: "operator"; readonly email: string }
  | { readonly did: "link"; readonly link: OneTimeLink };

/**
 * Lets the first person in: makes the operator that the configuration names, or else a one-time set-up link, for which every
 * earlier one stops working. Once anybody has an account nothing happens, whatever is configured.
 * @throws ConfigError when only one of address and password is given, or one of them will not do
 */
export async function firstRun(core: Core): Promise<FirstRun> {
  if (hasUsers(core)) return { did: "nothing" };
  const { adminEmail: email, adminPassword: password } = core.config;
  if (email !== null && password !== null) {
    try {
      const user = await createUser(core, { email, password, operator: true }, SYSTEM);
      return { did: "operator", email: user.email };
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      throw new ConfigError(`RECKON_ADMIN_EMAIL and RECKON_ADMIN_PASSWORD make no first operator: ${error.message}`);
    }
  }
  if (email !== null || password !== null) {
    const [given, missing] = email === null ? ["PASSWORD", "EMAIL"] : ["EMAIL", "PASSWORD"];
    throw new ConfigError(
      `RECKON_ADMIN_${given} is set without RECKON_ADMIN_${missing}: the first operator needs both (or neither, for a set-up link)`,
    );
  }
  const link = await createSetupLink(core);
  return link ? { did: "link", link } : { did: "nothing" };
}
