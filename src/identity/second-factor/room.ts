import { room } from "../../platform/rooms/rooms.ts";

export const secondFactor = room({
  name: "second-factor",
  auditActions: {
    "factor.added": { label: "Second factor added", did: "added a second factor", beyondTeams: true },
    "factor.removed": { label: "Second factor removed", did: "removed a second factor", beyondTeams: true },
    "factor.reset": { label: "Second factors reset", did: "removed all second factors of", beyondTeams: true },
    "factor.codes_renewed": { label: "Recovery codes renewed", did: "made new recovery codes", beyondTeams: true },
    "factor.recovery_used": { label: "Recovery code used", did: "used a recovery code", beyondTeams: true },
    "factor.refused": { label: "Second factor refused", did: "gave a wrong second factor", beyondTeams: true },
  },
});
