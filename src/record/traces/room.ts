import { room } from "../../platform/rooms/rooms.ts";
import { ingest } from "./ingest.ts";
import { known } from "./known.ts";
import { sealJob } from "./seal.ts";

export const traces = room({
  name: "traces",
  tags: { "Agent traces": "Sessions of agents with their spans and labels." },
  endpoints: [ingest, known],
  jobs: [sealJob],
  auditActions: {
    "agent_session.exported": { label: "Session's record downloaded", did: "downloaded the record of the session" },
  },
});
