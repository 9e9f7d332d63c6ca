import * as v from "valibot";
import { fail } from "../../kit/problem.ts";
import { endpoint } from "../../platform/http/endpoint.ts";
import { inShape } from "../../platform/http/faults.ts";
import { openObject } from "../../platform/http/fields.ts";
import { readUserAgent } from "../../redact/redact.ts";
import {
  authorizationPending,
  expiredToken,
  invalidGrant,
  malformedGrant,
  signingUnavailable,
  slowDown,
  tooLargeGrant,
} from "./faults.ts";
import { redeemDeviceCode } from "./redeem.ts";
import { TOKEN_LIFETIME_MS } from "./tokens.ts";

export const DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code";

/** Polled by the tool until the person has answered (RFC 8628 sections 3.4 and 3.5). */
export const deviceToken = endpoint(
  {
    id: "cliDeviceToken",
    method: "POST",
    path: "/api/cli/device/token",
    summary: "Poll for the access token of a device authorization (RFC 8628)",
    tag: "CLI sign-in",
    auth: "none",
    body: {
      schema: openObject({
        device_code: v.pipe(
          v.string(),
          v.minLength(1, "must not be empty"),
          v.maxLength(256, "must have at most 256 characters"),
        ),
        grant_type: v.optional(
          v.pipe(v.string(), v.description("May be left out."), v.metadata({ enum: [DEVICE_GRANT] })),
        ),
      }),
      maxBytes: () => 16 * 1024,
      form: true,
    },
    ok: v.object({
      access_token: v.pipe(v.string(), v.description("RS256 JWT of type at+jwt (RFC 9068); shown once, revocable.")),
      token_type: v.literal("Bearer"),
      expires_in: v.pipe(v.number(), v.integer(), v.description("Seconds.")),
    }),
    faults: [
      ...inShape("rfc8628", authorizationPending, slowDown, expiredToken, invalidGrant, malformedGrant, tooLargeGrant),
      signingUnavailable,
    ],
    limits: [{ name: "device-token", quota: (config) => config.limitDeviceToken, per: "ip", headers: "always" }],
    example: {
      body: { device_code: "kZ5n0Ew9c2rJ7tXyQ1uVb8mHs4dGf6pLa3iOe0NwTyU", grant_type: DEVICE_GRANT },
      ok: {
        access_token: "eyJhbGciOiJSUzI1NiIsInR5cCI6ImF0K2p3dCJ9.eyJzdWIiOiJ1c3JfMDZhIn0.c2lnbmF0dXJl",
        token_type: "Bearer",
        expires_in: 2_592_000,
      },
    },
  },
  async ({ core, body, ip, header }) => {
    if (body.grant_type !== undefined && body.grant_type !== DEVICE_GRANT) fail(invalidGrant);
    // Without a key no poll can end well; a refusal ends the tool's waiting.
    if (core.config.signing === "off") fail(invalidGrant);
    const from = { ip: ip(), userAgent: readUserAgent(header("user-agent")) };
    const { accessToken } = await redeemDeviceCode(core, body.device_code, from);
    return { access_token: accessToken, token_type: "Bearer" as const, expires_in: TOKEN_LIFETIME_MS / 1000 };
  },
);
