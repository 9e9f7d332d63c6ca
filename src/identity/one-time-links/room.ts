import { room } from "../../platform/rooms/rooms.ts";

export const oneTimeLinks = room({
  name: "one-time-links",
  auditActions: {
    "user.reset_link_made": { label: "Reset link made", did: "made a password link for" },
    "invitation.made": { label: "Invitation made", did: "made an invitation" },
    "invitation.revoked": { label: "Invitation revoked", did: "revoked an invitation" },
  },
});
