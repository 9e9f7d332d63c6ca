import { room } from "../../platform/rooms/rooms.ts";

export const savedViews = room({
  name: "saved-views",
  auditActions: {
    "view.shared": { label: "View shared", did: "shared with the team a" },
    "view.withdrawn": { label: "Shared view withdrawn", did: "took from the team a" },
  },
});
