import { room } from "../../platform/rooms/rooms.ts";
import { teamMetrics } from "./figures.ts";

export const teams = room({
  name: "teams",
  metrics: teamMetrics,
  auditActions: {
    "team.created": { label: "Team made", did: "made the team" },
    "team.changed": { label: "Team changed", did: "changed the team" },
    "team.binding_opened": {
      label: "Members may connect machines",
      did: "let members connect machines of their own to",
    },
    "team.binding_closed": {
      label: "Members may not connect machines",
      did: "no longer lets members connect machines of their own to",
    },
    "team.second_factor_demanded": { label: "Second factor demanded", did: "demanded a second factor of everybody in" },
    "team.second_factor_optional": { label: "Second factor optional", did: "no longer demands a second factor in" },
    "team.moved": { label: "Team moved", did: "moved to another instance the team" },
    "team.move_cancelled": { label: "Move taken back", did: "took back the move of" },
    "team.move_confirmed": { label: "Move confirmed", did: "said that another instance serves" },
    "team.verified": { label: "Publisher verified", did: "verified as a publisher" },
    "team.unverified": { label: "Publisher's verification taken back", did: "took back the verification of" },
  },
});
