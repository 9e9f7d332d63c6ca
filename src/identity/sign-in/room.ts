import { room } from "../../platform/rooms/rooms.ts";

export const signIn = room({
  name: "sign-in",
  auditActions: {
    "session.started": { label: "Signed in", did: "signed in", beyondTeams: true },
    "session.refused": { label: "Sign-in refused", did: "was refused at signing in", beyondTeams: true },
    "invitation.accepted": { label: "Invitation accepted", did: "accepted an invitation" },
  },
});
