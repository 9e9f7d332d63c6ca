import * as v from "valibot";
import { isoInstant } from "../../kit/clock.ts";
import { fail, type ProblemRow } from "../../kit/problem.ts";
import { newToken, tokenDigest } from "../../kit/tokens.ts";
import { recordEvent } from "../../platform/audit/audit.ts";
import { unjudged } from "../../platform/http/credential.ts";
import { endpoint } from "../../platform/http/endpoint.ts";
import { inShape } from "../../platform/http/faults.ts";
import { Instant } from "../../platform/http/fields.ts";
import { readUserAgent } from "../../redact/redact.ts";
import { findTeam } from "../teams/teams.ts";
import { deviceActor, TOKEN_LIFETIME_MS } from "./binding.ts";
import { device } from "./credential.ts";
import { alreadyRotated, invalidToken, tokenExpired, tokenRevoked } from "./faults.ts";
import type { DevicePrincipal } from "./principals.ts";
import { rows } from "./rows.ts";

/** Why a token cannot be rotated, or undefined when it can. A revocation is named rather than an expiry. */
function judgeRotation(device: DevicePrincipal, now: number): ProblemRow | undefined {
  if (device.revokedAt !== null) return tokenRevoked;
  if (device.tokenReplacedAt !== null) return alreadyRotated;
  if (device.tokenExpiresAt !== null && device.tokenExpiresAt <= now) return tokenExpired;
  return undefined;
}

/** Once another instance serves the team, only that one may replace the token. */
function requireServedHere(team: { readonly movedTo: string | null } | undefined): void {
  if (team?.movedTo)
    fail(invalidToken, `The team moved to ${team.movedTo}: the token is known there, and replaced there.`);
}

/** Replaces a device token; the old one stops working in the same transaction. */
export const rotate = endpoint(
  {
    id: "connectRotate",
    method: "POST",
    path: "/api/connect/rotate",
    summary: "Replace the device token with a new one",
    tag: "Connect",
    auth: unjudged(device),
    ok: v.object({ deviceToken: v.string(), expiresAt: Instant, teamId: v.string() }),
    faults: inShape("rotation", invalidToken, tokenExpired, tokenRevoked, alreadyRotated),
    limits: [],
    example: {
      ok: {
        deviceToken: "rkd_0123456789abcdefghijklmnopqrst4xK2Qz",
        expiresAt: "2027-02-19T08:00:00.000Z",
        teamId: "team_06a15c9c007x7v3w3nbxrw2s5m",
      },
    },
  },
  async ({ core, principal, header, ip }) => {
    if (!principal) return fail(invalidToken);
    const refused = judgeRotation(principal, core.clock.now());
    if (refused) fail(refused);
    requireServedHere(principal);
    const deviceToken = newToken("rkd", core.random);
    const userAgent = readUserAgent(header("user-agent"));
    const address = ip();
    const expiresAt = await core.store.write(() => {
      const now = core.clock.now();
      // Another process may have moved the team since: then the token stays valid there as it is.
      requireServedHere(findTeam(core, principal.teamId));
      // Of parallel rotations the first to get here wins: the update finds the token unreplaced once.
      if (rows(core.store).replaceToken.run(now, principal.tokenHash).changes === 0) fail(alreadyRotated);
      const device = rows(core.store).device.get(principal.deviceId);
      if (device?.revokedAt !== null) return fail(tokenRevoked);
      const expiresAt = device.endsAt ?? now + TOKEN_LIFETIME_MS;
      rows(core.store).insertToken.run(tokenDigest(deviceToken), principal.deviceId, now, expiresAt);
      rows(core.store).touchDevice.run(now, userAgent, principal.deviceId);
      recordEvent(core, deviceActor(device.id, device.label, address), {
        action: "device.rotated",
        teamId: device.teamId,
        target: { kind: "device", id: device.id, label: device.label },
      });
      return expiresAt;
    });
    return { deviceToken, expiresAt: isoInstant(expiresAt), teamId: principal.teamId };
  },
);
