import * as v from "valibot";
import { baseUrlOf } from "../../kit/base-url.ts";
import { endpoint } from "../../platform/http/endpoint.ts";
import { deviceCode } from "./device-code.ts";
import { DEVICE_GRANT, deviceToken } from "./device-token.ts";

const address = v.pipe(v.string(), v.url());

/** What an OAuth client needs to know to sign in here by itself (RFC 8414). */
export const metadata = endpoint(
  {
    id: "oauthMetadata",
    method: "GET",
    path: "/.well-known/oauth-authorization-server",
    wellKnown: true,
    summary: "Authorization server metadata (RFC 8414)",
    tag: "CLI sign-in",
    auth: "none",
    ok: v.object({
      issuer: address,
      device_authorization_endpoint: address,
      token_endpoint: address,
      jwks_uri: address,
      grant_types_supported: v.array(v.string()),
      response_types_supported: v.pipe(
        v.array(v.string()),
        v.description("Empty: there is no authorization endpoint."),
      ),
      token_endpoint_auth_methods_supported: v.array(v.string()),
    }),
    faults: [],
    limits: [],
    cache: "public, max-age=300",
    example: {
      ok: {
        issuer: "https://reckon.example.com",
        device_authorization_endpoint: "https://reckon.example.com/api/cli/device/code",
        token_endpoint: "https://reckon.example.com/api/cli/device/token",
        jwks_uri: "https://reckon.example.com/.well-known/jwks.json",
        grant_types_supported: ["urn:ietf:params:oauth:grant-type:device_code"],
        response_types_supported: [],
        token_endpoint_auth_methods_supported: ["none"],
      },
    },
  },
  ({ core }) => {
    const issuer = baseUrlOf(core.config);
    return {
      issuer,
      device_authorization_endpoint: issuer + deviceCode.spec.path,
      token_endpoint: issuer + deviceToken.spec.path,
      jwks_uri: `${issuer}/.well-known/jwks.json`,
      grant_types_supported: [DEVICE_GRANT],
      // RFC 8414 section 2 requires the member although there is nothing to list.
      response_types_supported: [],
      token_endpoint_auth_methods_supported: ["none"],
    };
  },
);
