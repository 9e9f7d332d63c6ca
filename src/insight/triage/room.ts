import { room } from "../../platform/rooms/rooms.ts";

export const triage = room({
  name: "triage",
  auditActions: {
    "error.assigned": { label: "Error assigned", did: "assigned the error" },
    "error.unassigned": { label: "Error given up", did: "left without an owner the error" },
    "error.resolved": { label: "Error resolved", did: "resolved the error" },
    "error.reopened": { label: "Error reopened", did: "reopened the error" },
    "error.snoozed": { label: "Error snoozed", did: "snoozed the error" },
    "error.commented": { label: "Error commented on", did: "commented on the error" },
    "error.linked": { label: "Error linked to a tracker", did: "linked to a tracker the error" },
    "error.unlinked": { label: "Link to a tracker removed", did: "took the tracker's link from the error" },
    "error.came_again": { label: "Error came again", did: "saw coming again the error" },
  },
});
