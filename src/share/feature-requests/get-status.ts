import * as v from "valibot";
import { endpoint } from "../../platform/http/endpoint.ts";
import { REQUEST_ID } from "./list.ts";
import { rows, STATUSES } from "./rows.ts";

const UP_TO_100_IDS = /^req_[\w-]{1,128}(?:,req_[\w-]{1,128}){0,99}$/;

/** Says what became of requests, by the ids that intake gave. */
export const status = endpoint(
  {
    id: "requestsStatus",
    method: "GET",
    path: "/api/requests/status",
    summary: "Ask what became of requests",
    tag: "Product requests",
    auth: "none",
    query: v.object({
      ids: v.pipe(
        v.string(),
        v.regex(UP_TO_100_IDS, "must be up to 100 request ids (req_…), separated by commas"),
        v.description("Up to 100 ids as requestsIngest gave them, separated by commas."),
      ),
    }),
    ok: v.object({
      ok: v.boolean(),
      statuses: v.pipe(
        v.array(
          v.object({
            id: v.pipe(v.string(), v.regex(REQUEST_ID)),
            status: v.pipe(
              v.picklist(STATUSES),
              v.description("Of a request that repeats another one: the other one's."),
            ),
          }),
        ),
        v.description("Of the ids that are known, in the order asked; others are left out."),
      ),
    }),
    faults: [],
    errorShape: "okFalse",
    limits: [{ name: "request-status", quota: (config) => config.limitRequestStatus, per: "ip", headers: "always" }],
    example: {
      query: { ids: "req_06a15c9c007x7v3w3nbxrw2s5m,req_06a15c9c007x7v3w3nbxrw2s5n" },
      ok: { ok: true, statuses: [{ id: "req_06a15c9c007x7v3w3nbxrw2s5m", status: "planned" }] },
    },
  },
  ({ core, query }) => ({
    ok: true,
    statuses: [...new Set(query.ids.split(","))].flatMap((id) => {
      const root = rows(core.store).root.get(id);
      return root ? [{ id, status: root.status }] : [];
    }),
  }),
);
