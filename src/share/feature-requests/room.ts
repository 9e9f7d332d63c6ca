import { room } from "../../platform/rooms/rooms.ts";
import { status } from "./get-status.ts";
import { ingest } from "./ingest.ts";

export const featureRequests = room({
  name: "feature-requests",
  tags: { "Product requests": "What people and agents ask of the product, without an account, and what became of it." },
  endpoints: [ingest, status],
  auditActions: {
    "request.changed": { label: "Request changed", did: "changed the request", beyondTeams: true },
    "request.merged": { label: "Request merged", did: "marked as a duplicate the request", beyondTeams: true },
    "request.unmerged": {
      label: "Request's merge taken back",
      did: "took back the merge of the request",
      beyondTeams: true,
    },
  },
});
