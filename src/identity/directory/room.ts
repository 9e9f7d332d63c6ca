import { room } from "../../platform/rooms/rooms.ts";

export const directory = room({
  name: "directory",
  auditActions: {
    "scim_token.created": { label: "SCIM token made", did: "made a SCIM token of", beyondTeams: true },
    "scim_token.revoked": { label: "SCIM token revoked", did: "revoked a SCIM token of", beyondTeams: true },
  },
});
