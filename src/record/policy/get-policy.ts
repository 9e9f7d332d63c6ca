import * as v from "valibot";
import type { Core } from "../../core.ts";
import { device } from "../../identity/devices/devices.ts";
import { etagMatches } from "../../kit/etag.ts";
import { sha256Hex } from "../../kit/hash.ts";
import { endpoint, Reply, unchanged } from "../../platform/http/endpoint.ts";
import { currentEpoch } from "../../platform/transparency/transparency.ts";
import { PolicyDocument } from "./document.ts";
import { currentPolicy } from "./policies.ts";

/** The capture policy; agents read it before every session, so an unchanged one costs a 304. */
export const policy = endpoint(
  {
    id: "getPolicy",
    method: "GET",
    path: "/api/policy",
    summary: "The team's capture policy",
    tag: "Policy",
    auth: device,
    ok: v.object({ ok: v.boolean(), ...PolicyDocument.entries, captureMode: v.string() }),
    also: [unchanged],
    faults: [],
    limits: [],
    cache: "private, no-cache",
    example: {
      ok: {
        ok: true,
        captureMode: "redacted",
        watchlist: ["src/payment/**"],
        actions: { requireApprovals: false },
      },
    },
  },
  ({ core, principal, header }) => {
    const body = { ok: true, ...currentPolicy(core, principal.teamId) };
    const etag = `"${sha256Hex(JSON.stringify(body)).slice(0, 32)}"`;
    const headers = { etag, ...logOf(core) };
    if (etagMatches(header("if-none-match"), etag)) return new Reply<never>(null, { status: 304, headers });
    return new Reply(body, { headers });
  },
);

/** The log's name. By it a device that asks before it sends learns that what it sent before may be lost. */
function logOf(core: Core): Record<string, string> {
  const origin = currentEpoch(core)?.origin;
  return origin === undefined ? {} : { "reckon-log": origin };
}
