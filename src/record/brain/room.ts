import { room } from "../../platform/rooms/rooms.ts";
import { ingest } from "./ingest.ts";
import { sealJob } from "./seal.ts";
import { search } from "./search.ts";

export const brain = room({
  name: "brain",
  tags: { Brain: "Versioned snapshots of a repository's markdown files, and the search over them." },
  endpoints: [ingest, search],
  jobs: [sealJob],
  auditActions: {
    "brain_file.exported": { label: "Brain file downloaded", did: "downloaded the brain file" },
  },
});
