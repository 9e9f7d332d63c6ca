import { room } from "../../platform/rooms/rooms.ts";
import { erasureMetrics } from "./figures.ts";
import { retentionJob } from "./nightly.ts";
import { reclaimJob } from "./reclaim.ts";
import { refilledJob, watchRefilled } from "./refilled.ts";
import { resumeAtStart, resumingJob } from "./resume.ts";

export const erasure = room({
  name: "erasure",
  auditActions: {
    "erasure.requested": { label: "Erasure asked for", did: "asked for the erasure of the" },
    "erasure.completed": { label: "Erasure done", did: "finished the erasure of the" },
    "erasure.replayed": { label: "Erasure repeated", did: "found in a restored copy, and erases again, the" },
    "retention.set": { label: "Retention changed", did: "changed for how long is kept: " },
    "retention.begun": { label: "Retention begun", did: "began to let go what was kept for long enough, by the" },
    "retention.run": { label: "Retention run", did: "let go what was kept for long enough, by the" },
    "hold.placed": { label: "Hold placed", did: "placed a hold on" },
    "hold.released": { label: "Hold released", did: "released the hold on" },
  },
  jobs: [resumingJob, retentionJob, reclaimJob, refilledJob],
  metrics: erasureMetrics,
  async open(core) {
    await resumeAtStart(core);
    watchRefilled(core);
  },
});
