import * as v from "valibot";
import { baseUrlOf } from "../../kit/base-url.ts";
import { fail } from "../../kit/problem.ts";
import { endpoint } from "../../platform/http/endpoint.ts";
import { inShape, tooLargeMalformed } from "../../platform/http/faults.ts";
import { openObject } from "../../platform/http/fields.ts";
import { readUserAgent } from "../../redact/redact.ts";
import { CODE_LIFETIME_MS, startAuthorization } from "./authorizations.ts";
import { signInOff, tooManyWaiting } from "./faults.ts";
import { INTERVAL_SECONDS } from "./pacing.ts";

/** Begins the flow of RFC 8628 (section 3.1): a secret for the tool, a short code for the person. */
export const deviceCode = endpoint(
  {
    id: "cliDeviceCode",
    method: "POST",
    path: "/api/cli/device/code",
    summary: "Begin signing a command-line tool in (RFC 8628)",
    tag: "CLI sign-in",
    auth: "none",
    body: {
      schema: openObject({
        channel: v.optional(
          v.pipe(
            v.picklist(["npm", "desktop"], "must be npm or desktop"),
            v.description("How the tool was installed; shown on the approval page."),
          ),
        ),
      }),
      maxBytes: () => 16 * 1024,
      form: true,
      optional: true,
    },
    ok: v.object({
      device_code: v.pipe(v.string(), v.description("The tool's secret; it polls cliDeviceToken with it.")),
      user_code: v.pipe(v.string(), v.description("What the person types, in any case, with or without the dash.")),
      verification_uri: v.pipe(v.string(), v.url()),
      verification_uri_complete: v.optional(
        v.pipe(v.string(), v.url(), v.description("The same with the code filled in.")),
      ),
      interval: v.pipe(v.number(), v.integer(), v.description("Seconds to leave between polls, at least.")),
      expires_in: v.pipe(v.number(), v.integer(), v.description("Seconds until both codes expire.")),
    }),
    faults: [...inShape("retryable", signInOff), tooManyWaiting, tooLargeMalformed],
    limits: [{ name: "device-code", quota: (config) => config.limitDeviceCode, per: "ip", headers: "always" }],
    example: {
      body: { channel: "npm" },
      ok: {
        device_code: "kZ5n0Ew9c2rJ7tXyQ1uVb8mHs4dGf6pLa3iOe0NwTyU",
        user_code: "WDJB-MJHT",
        verification_uri: "https://reckon.example.com/login/device",
        verification_uri_complete: "https://reckon.example.com/login/device?user_code=WDJB-MJHT",
        interval: 5,
        expires_in: 900,
      },
    },
  },
  async ({ core, body, ip, header }) => {
    if (core.config.signing === "off") fail(signInOff);
    const started = await startAuthorization(core, {
      channel: body.channel ?? null,
      ip: ip(),
      userAgent: readUserAgent(header("user-agent")),
    });
    const page = `${baseUrlOf(core.config)}/login/device`;
    return {
      device_code: started.deviceCode,
      user_code: started.userCode,
      verification_uri: page,
      verification_uri_complete: `${page}?user_code=${started.userCode}`,
      interval: INTERVAL_SECONDS,
      expires_in: CODE_LIFETIME_MS / 1000,
    };
  },
);
