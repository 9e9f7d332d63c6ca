import * as v from "valibot";
import { SYSTEM } from "../../../platform/audit/audit.ts";
import { changeRequest, STATUSES } from "../../../share/feature-requests/feature-requests.ts";
import { control } from "./route.ts";

const Change = v.strictObject({ status: v.optional(v.picklist(STATUSES)), note: v.optional(v.string()) });

export const requestsRoute = control(
  {
    method: "POST",
    path: "/_dev/requests/:id",
    description: `decides about a product request as an operator would: status (${STATUSES.join(", ")}), note (theirs alone)`,
    body: Change,
    example: { status: "planned" },
  },
  async ({ local: { core }, id, body }) => {
    const { status, note } = await changeRequest(core, id, body, SYSTEM);
    return { request: { id, status, note } };
  },
);
