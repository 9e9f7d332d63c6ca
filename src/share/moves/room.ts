import { room } from "../../platform/rooms/rooms.ts";

export const teamMoving = room({
  name: "moves",
  auditActions: {
    "team.exported": { label: "Team exported", did: "wrote into a file, to move it, the team" },
    "team.imported": { label: "Team imported", did: "took in, from another instance, the team" },
  },
});
