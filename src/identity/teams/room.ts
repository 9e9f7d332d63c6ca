import { room } from "../../platform/rooms/rooms.ts";

export const teams = room({
  name: "teams",
  auditActions: {
    "team.created": { label: "Team made", did: "made the team" },
    "team.changed": { label: "Team changed", did: "changed the team" },
    "team.verified": { label: "Publisher verified", did: "verified as a publisher" },
    "team.unverified": { label: "Publisher's verification taken back", did: "took back the verification of" },
  },
});
