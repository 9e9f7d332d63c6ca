import { type Core, slot } from "../../core.ts";
import { isWellFormedToken, tokenDigest } from "../../kit/tokens.ts";
import type { DevicePrincipal } from "../../platform/http/principal.ts";
import { rows } from "./rows.ts";

/** Devices remembered at most; the one asked for longest ago goes first. */
const MAX_HELD = 10_000;
/** Another process's changes (a revocation from the command line) show after this long at most. */
const RECHECK_MS = 25;

interface Held {
  /** By token. A look-up outside a transaction costs SQLite several locks, more than all else that a small request does. */
  readonly byToken: Map<string, DevicePrincipal>;
  checkedAt: number;
  outsideVersion: number;
}

/**
 * What is known of devices, forgotten as soon as a row it came from changes: by this process (triggers of this connection
 * tell) or by another (SQLite's data_version does).
 */
const held = slot((core): Held => {
  const byToken = new Map<string, DevicePrincipal>();
  core.store.onChange(["teams", "devices", "device_tokens"], () => byToken.clear());
  return { byToken, checkedAt: Number.NEGATIVE_INFINITY, outsideVersion: -1 };
});

/**
 * Whose a device token is, whatever its state. The form and check characters are tried first, so that guesses and
 * typing errors cost no query; the look-up is by SHA-256, so its timing tells nothing of stored tokens.
 */
export function findDevice(core: Core, token: string): DevicePrincipal | undefined {
  const cache = held(core);
  const now = core.clock.monotonic();
  if (now - cache.checkedAt >= RECHECK_MS) {
    cache.checkedAt = now;
    const version = core.store.outsideVersion();
    if (version !== cache.outsideVersion) cache.byToken.clear();
    cache.outsideVersion = version;
  }
  const known = cache.byToken.get(token);
  if (known) return known;
  if (!isWellFormedToken(token, "rkd")) return undefined;
  const found = rows(core.store).principalByToken.get(tokenDigest(token)) as DevicePrincipal | undefined;
  if (!found) return undefined;
  if (cache.byToken.size >= MAX_HELD) cache.byToken.delete(cache.byToken.keys().next().value as string);
  cache.byToken.set(token, found);
  return found;
}

/** Begins to watch for changes; part of starting, so that the first request finds it done. */
export function watchPrincipals(core: Core): void {
  held(core);
}
