import { room } from "../../platform/rooms/rooms.ts";
import { context } from "./context.ts";

export const readTokens = room({
  name: "read-tokens",
  tags: { "My Brain": "What a person's own read tokens may ask." },
  endpoints: [context],
  auditActions: {
    "read_token.created": { label: "Read token minted", did: "minted the read token" },
    "read_token.revoked": { label: "Read token revoked", did: "revoked the read token" },
  },
});
