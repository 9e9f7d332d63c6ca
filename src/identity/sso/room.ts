import { room } from "../../platform/rooms/rooms.ts";

export const sso = room({
  name: "sso",
  auditActions: {
    "sso.added": { label: "Single sign-on added", did: "added the single sign-on", beyondTeams: true },
    "sso.changed": { label: "Single sign-on changed", did: "changed the single sign-on", beyondTeams: true },
    "sso.removed": { label: "Single sign-on removed", did: "removed the single sign-on", beyondTeams: true },
    "sso.linked": { label: "Account linked", did: "linked single sign-on to the account of", beyondTeams: true },
    "sso.unlinked": { label: "Link ended", did: "ended the single sign-on of", beyondTeams: true },
  },
});
