import { room } from "../rooms/rooms.ts";
import { prepareKey } from "./keys.ts";

export const keys = room({
  name: "keys",
  open: prepareKey,
  auditActions: {
    "key.rotated": { label: "Signing key rotated", did: "made a new signing key", beyondTeams: true },
  },
});
