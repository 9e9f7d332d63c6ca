import * as v from "valibot";
import { isoInstant } from "../../kit/clock.ts";
import { withoutMisleading } from "../../kit/escape-invisible.ts";
import { endpoint } from "../../platform/http/endpoint.ts";
import { tooLargeMalformed } from "../../platform/http/faults.ts";
import { Count, Instant, identifier } from "../../platform/http/fields.ts";
import { readUserAgent, redactText } from "../../redact/redact.ts";
import { licenseFor } from "../license/license.ts";
import { bindDevice } from "./binding.ts";
import { isErased } from "./erase.ts";
import { codeExpired, codeUsed, teamNotFound } from "./faults.ts";

const Consent = v.object({
  version: v.pipe(identifier(200), v.description("Version of the consent text that the operator accepted.")),
  deviceLabel: v.optional(v.pipe(identifier(200), v.description("What people call this machine."))),
});

const DeviceBinding = v.looseObject({
  deviceToken: v.pipe(v.string(), v.description("Shown once; replace it with connectRotate before it expires.")),
  deviceTokenExpiresAt: v.nullable(Instant),
  license: v.optional(
    v.nullable(v.pipe(v.string(), v.description("Signed licence (JWT), or null when the team has none."))),
  ),
  teamId: v.string(),
  teamName: v.string(),
  status: v.string(),
  seatCount: Count,
  consentVersion: v.string(),
  previousErased: v.optional(
    v.pipe(
      v.boolean(),
      v.description("Whether the device that this machine was before is erased, with all that it sent."),
    ),
  ),
});

/** Turns a one-time connect code and the operator's consent into a device token. */
export const exchange = endpoint(
  {
    id: "connectExchange",
    method: "POST",
    path: "/api/connect/exchange",
    summary: "Bind a machine to a team with a one-time connect code",
    tag: "Connect",
    auth: "none",
    body: {
      schema: v.object({
        code: v.pipe(
          v.string(),
          v.minLength(1, "must not be empty"),
          v.maxLength(256, "must have at most 256 characters"),
        ),
        consent: Consent,
        previousDeviceId: v.optional(
          v.pipe(identifier(200), v.description("The device that this machine was before, if it was one.")),
        ),
      }),
      maxBytes: () => 16 * 1024,
    },
    ok: DeviceBinding,
    faults: [codeUsed, codeExpired, teamNotFound, tooLargeMalformed],
    // Only refusals count: hundreds of CI jobs behind one address may begin in the same minute, with a valid code.
    limits: [
      { name: "exchange", quota: (config) => config.limitExchange, per: "ip", headers: "limited", counts: "refusals" },
    ],
    example: {
      ok: {
        deviceToken: "rkd_0123456789abcdefghijklmnopqrst4xK2Qz",
        deviceTokenExpiresAt: "2027-02-19T08:00:00.000Z",
        license: null,
        teamId: "team_06a15c9c007x7v3w3nbxrw2s5m",
        teamName: "Acme",
        status: "active",
        seatCount: 25,
        consentVersion: "2026-01",
      },
      body: { code: "7F3K-9QWX-2B4M-H8TZ-5RCD-1VNP", consent: { version: "2026-01", deviceLabel: "build-agent-3" } },
    },
  },
  async ({ core, body, header, ip }) => {
    // A label is free text from a machine: secrets are taken out before it reaches the disk.
    const label = redactText(withoutMisleading(body.consent.deviceLabel ?? "")).text || null;
    const consentVersion = redactText(body.consent.version).text;
    const { deviceId, deviceToken, expiresAt, team, person } = await bindDevice(
      core,
      body.code,
      consentVersion,
      label,
      readUserAgent(header("user-agent")),
      ip(),
    );
    return {
      deviceToken,
      deviceTokenExpiresAt: isoInstant(expiresAt),
      license: (await licenseFor(core, team, deviceId)) ?? null,
      teamId: team.id,
      teamName: team.name,
      status: "active",
      seatCount: team.seats,
      consentVersion,
      deviceId,
      person: person?.email ?? null,
      ...(isErased(core, team.id, body.previousDeviceId) ? { previousErased: true } : {}),
    };
  },
);
