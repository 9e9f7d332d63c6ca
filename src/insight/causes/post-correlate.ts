import * as v from "valibot";
import { touchDevice } from "../../identity/devices/devices.ts";
import { changingDevice } from "../../identity/sight/sight.ts";
import { requireCapability, tierGate } from "../../identity/teams/teams.ts";
import { forbidden } from "../../kit/problem.ts";
import { endpoint } from "../../platform/http/endpoint.ts";
import { inShape } from "../../platform/http/faults.ts";
import { Count, openObject, RepoKey } from "../../platform/http/fields.ts";
import { catchUp } from "../../platform/projections/projections.ts";
import { entriesProjection } from "../defects/defects.ts";
import { correlate } from "./correlate.ts";
import { evidenceProjection } from "./follow-sessions.ts";

/** Compares every entry with the sessions of the 30 days before it, anew. */
export const correlateLinks = endpoint(
  {
    id: "causalLinkCorrelate",
    method: "POST",
    path: "/api/causal-link/correlate",
    summary: "Put the brain's defects down to agent sessions",
    tag: "Causes",
    auth: changingDevice,
    body: { schema: openObject({ repoKey: v.optional(RepoKey) }), maxBytes: () => 16 * 1024, optional: true },
    ok: v.object({
      ok: v.boolean(),
      considered: v.pipe(Count, v.description("Dated headings of errors, security and anti-patterns files.")),
      linked: v.pipe(Count, v.description("Of these, put down to a session or commit.")),
      possible: v.pipe(Count, v.description("Of these, with merely possible causes.")),
      unlinked: Count,
    }),
    faults: [...inShape("tierGate", tierGate), forbidden],
    limits: [{ name: "correlate", quota: (config) => config.limitBrain, per: "team", headers: "limited" }],
    example: {
      body: { repoKey: "github.com/acme/shop" },
      ok: { ok: true, considered: 12, linked: 7, possible: 4, unlinked: 1 },
    },
  },
  async ({ core, principal, body }) => {
    requireCapability(principal.tier, "traces");
    await core.store.write(() => touchDevice(core, principal, core.clock.now()));
    await catchUp(core, entriesProjection);
    await catchUp(core, evidenceProjection);
    return { ok: true, ...(await correlate(core, principal.teamId, body.repoKey)) };
  },
);
