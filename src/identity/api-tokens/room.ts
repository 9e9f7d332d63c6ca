import { room } from "../../platform/rooms/rooms.ts";

export const apiTokens = room({
  name: "api-tokens",
  auditActions: {
    "api_token.created": { label: "API token made", did: "made the API token" },
    "api_token.revoked": { label: "API token revoked", did: "revoked the API token" },
  },
});
