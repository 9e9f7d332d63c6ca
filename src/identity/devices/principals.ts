import { type Core, slot } from "../../core.ts";
import { isWellFormedToken, tokenDigest } from "../../kit/tokens.ts";
import { findTeam, type Team } from "../teams/teams.ts";
import { rows, type TokenRow } from "./rows.ts";

/** A machine's credential as the database knows it, whatever its state. */
export interface DevicePrincipal
  extends TokenRow,
    Pick<
      Team,
      "tier" | "seats" | "subscription" | "subscriptionChangedAt" | "periodEndAt" | "suspendedAt" | "movedTo"
    > {
  readonly teamName: string;
}

/** Devices in the cache at most; the one asked for longest ago goes first. */
const MAX_CACHED = 10_000;
interface Cache {
  /** By token. A look-up outside a transaction costs SQLite several locks, more than all else that a small request does. */
  readonly byToken: Map<string, DevicePrincipal>;
  readonly hasChangedOutside: (now: number) => boolean;
}

/**
 * A cache of devices. An entry is forgotten as soon as a row that it came from changes: by this process (triggers of this connection report
 * it) or by another, such as a revocation from the command line.
 */
const cacheOf = slot((core): Cache => {
  const byToken = new Map<string, DevicePrincipal>();
  core.store.onChange(["teams", "device_tokens"], () => byToken.clear());
  // Only this device is forgotten. Each device's row changes once a minute, so clearing the cache would leave a thousand devices no time in
  // it.
  const forget = (deviceId: unknown) => {
    for (const [token, device] of byToken) if (device.deviceId === deviceId) byToken.delete(token);
  };
  core.store.onChange(["devices"], forget, { column: "id" });
  return { byToken, hasChangedOutside: core.store.watchOutside() };
});

/**
 * The principal of a device token, whatever its state. The form and check characters are tried first, so that guesses and typing errors
 * cost no query; the look-up is by SHA-256, so its timing tells nothing of stored tokens.
 */
export function findDevice(core: Core, token: string): DevicePrincipal | undefined {
  const cache = cacheOf(core);
  if (cache.hasChangedOutside(core.clock.monotonic())) cache.byToken.clear();
  const known = cache.byToken.get(token);
  if (known) return known;
  if (!isWellFormedToken(token, "rkd")) return undefined;
  const device = rows(core.store).byToken.get(tokenDigest(token));
  const team = device && findTeam(core, device.teamId);
  if (!team) return undefined;
  const { id: _, name: teamName, createdAt: __, verifiedAt: ___, ...plan } = team;
  const principal: DevicePrincipal = { ...device, teamName, ...plan };
  if (cache.byToken.size >= MAX_CACHED) cache.byToken.delete(cache.byToken.keys().next().value as string);
  cache.byToken.set(token, principal);
  return principal;
}

/** Begins to watch for changes; part of starting, so that the first request finds it done. */
export function watchPrincipals(core: Core): void {
  cacheOf(core);
}
