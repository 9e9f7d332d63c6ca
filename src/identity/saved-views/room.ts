import { room } from "../../platform/rooms/rooms.ts";

export const savedViews = room({
  name: "saved-views",
  auditActions: {
    "view.shared": { label: "View shared", did: "shared a view" },
    "view.withdrawn": { label: "Shared view withdrawn", did: "withdrew a shared view" },
  },
});
