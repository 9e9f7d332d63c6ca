import { room } from "../../platform/rooms/rooms.ts";
import { jwks, pubkey } from "./pubkey.ts";

export const license = room({
  name: "license",
  tags: { Licence: "Signed statements of what a team is entitled to, verifiable offline." },
  endpoints: [pubkey, jwks],
  auditActions: {
    "license.minted": { label: "Licence minted", did: "minted a licence for" },
  },
});
