import { room } from "../../platform/rooms/rooms.ts";

export const readTokens = room({
  name: "read-tokens",
  auditActions: {
    "read_token.created": { label: "Read token minted", did: "minted the read token" },
    "read_token.revoked": { label: "Read token revoked", did: "revoked the read token" },
  },
});
