import type { Core } from "../core.ts";
import type { DevicePrincipal } from "../http/principal.ts";
import { isWellFormedToken, tokenDigest } from "../kit/tokens.ts";
import { rows } from "./rows.ts";

/**
 * Whose a device token is, whatever its state. The form and check characters are tried first, so that guesses and
 * typing errors cost no query; the look-up is by SHA-256, so its timing tells nothing of stored tokens.
 */
export function findDevice(core: Core, token: string): DevicePrincipal | undefined {
  if (!isWellFormedToken(token, "rkd")) return undefined;
  return rows(core.store).principalByToken.get(tokenDigest(token)) as DevicePrincipal | undefined;
}
