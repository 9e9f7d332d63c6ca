import * as v from "valibot";
import type { Core } from "../../core.ts";
import { fail, problem } from "../../kit/problem.ts";
import { endpoint } from "../../platform/http/endpoint.ts";
import { inShape, storeUnavailable } from "../../platform/http/faults.ts";
import { Count } from "../../platform/http/fields.ts";
import { judgeSubscription, mintLicense } from "../license/license.ts";
import { device } from "./credential.ts";

const noSubscription = problem({
  name: "noSubscription",
  status: 402,
  code: "payment_required",
  message: "The team has no active subscription.",
});
const suspended = problem({
  name: "suspended",
  status: 403,
  code: "forbidden",
  message: "The account is suspended.",
});
const signingUnavailable = problem({
  name: "signingUnavailable",
  status: 503,
  code: "unavailable",
  message: "Licence signing is unavailable.",
});
const signingOff = problem({
  ...signingUnavailable,
  name: "signingOff",
  message: "Licence signing is switched off on this server.",
  retryable: false,
});

/** Signs a licence for the bound team. */
export const license = endpoint(
  {
    id: "getLicense",
    method: "GET",
    path: "/api/license",
    summary: "Mint a signed licence for the bound team",
    tag: "Licence",
    auth: device,
    ok: v.object({
      license: v.pipe(
        v.string(),
        v.description("RS256 JWT of type license+jwt; verifies offline with the public key."),
      ),
      teamId: v.string(),
      seatCount: Count,
      status: v.picklist(["active", "trialing", "past_due"]),
    }),
    faults: [noSubscription, suspended, ...inShape("retryable", signingUnavailable, signingOff, storeUnavailable)],
    limits: [],
    example: {
      ok: {
        license: "eyJhbGciOiJSUzI1NiIsInR5cCI6ImxpY2Vuc2Urand0In0.eyJhdWQiOiJyZWNrb246bGljZW5zZSJ9.c2lnbmF0dXJl",
        teamId: "team_06a15c9c007x7v3w3nbxrw2s5m",
        seatCount: 25,
        status: "active",
      },
    },
  },
  async ({ core, principal }) => {
    const entitlement = judgeSubscription(principal, core.clock.now());
    if (!entitlement.licensed) return fail(entitlement.because === "suspended" ? suspended : noSubscription);
    if (core.config.signing === "off") fail(signingOff);
    const team = { ...principal, id: principal.teamId };
    const signed = await mintLicense(core, team, principal.deviceId).catch((error: unknown) =>
      unavailable(core, error),
    );
    return {
      // Its grace may have ended since it was judged.
      license: signed ?? fail(noSubscription),
      teamId: principal.teamId,
      seatCount: principal.seats,
      status: entitlement.status,
    };
  },
);

function unavailable(core: Core, error: unknown): never {
  core.log.error("license_signing_failed", { cause: String(error) });
  return fail(signingUnavailable, { retryAfterSeconds: 30 });
}
