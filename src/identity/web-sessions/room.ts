import { room } from "../../platform/rooms/rooms.ts";

export const webSessions = room({
  name: "web-sessions",
  auditActions: {
    "session.ended": { label: "Signed out", did: "signed out", beyondTeams: true },
    "session.ended_all": { label: "Signed out everywhere else", did: "signed out everywhere else", beyondTeams: true },
  },
});
