import { room } from "../../platform/rooms/rooms.ts";
import { linksProjection } from "./follow-deliveries.ts";
import { evidenceProjection } from "./follow-sessions.ts";
import { listCausalLinks } from "./get-links.ts";
import { promptForLineEndpoint } from "./get-prompt-for-line.ts";
import { correlateLinks } from "./post-correlate.ts";
import { createCausalLink } from "./post-link.ts";

export const causes = room({
  name: "causes",
  tags: { Causes: "Which sessions and prompts defects and lines of code come from." },
  endpoints: [correlateLinks, listCausalLinks, createCausalLink, promptForLineEndpoint],
  projections: [evidenceProjection, linksProjection],
  auditActions: {
    "link.created": { label: "Cause named", did: "said what caused" },
    "link.confirmed": { label: "Cause confirmed", did: "confirmed the cause of" },
    "link.rejected": { label: "Cause rejected", did: "rejected a cause of" },
    "link.reopened": { label: "Cause left open again", did: "took back a word on the cause of" },
  },
});
