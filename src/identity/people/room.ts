import { room } from "../../platform/rooms/rooms.ts";

export const people = room({
  name: "people",
  auditActions: {
    "user.created": { label: "Account made", did: "made the account", beyondTeams: true },
    "user.disabled": { label: "Account closed", did: "closed the account", beyondTeams: true },
    "user.enabled": { label: "Account opened", did: "opened the account", beyondTeams: true },
    "user.password_changed": { label: "Password changed", did: "changed the password of", beyondTeams: true },
    "user.password_removed": { label: "Password removed", did: "removed the password of", beyondTeams: true },
    "user.changed": { label: "Account changed", did: "changed the account", beyondTeams: true },
    "user.operator_granted": { label: "Operator made", did: "made an operator of", beyondTeams: true },
    "user.operator_withdrawn": { label: "Operator unmade", did: "took the operator's right from", beyondTeams: true },
  },
});
