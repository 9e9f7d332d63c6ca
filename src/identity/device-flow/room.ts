import { room } from "../../platform/rooms/rooms.ts";
import { deviceCode } from "./device-code.ts";
import { deviceToken } from "./device-token.ts";
import { me } from "./me.ts";
import { metadata } from "./metadata.ts";

export const deviceFlow = room({
  name: "device-flow",
  tags: { "CLI sign-in": "Device authorization (RFC 8628) for command-line tools." },
  endpoints: [deviceCode, deviceToken, me, metadata],
  auditActions: {
    "cli_token.created": {
      label: "Command-line token given",
      did: "let a command-line tool sign in as",
      beyondTeams: true,
    },
    "cli_token.revoked": {
      label: "Command-line token revoked",
      did: "revoked a command-line token of",
      beyondTeams: true,
    },
    "cli_authorization.approved": {
      label: "Command-line tool approved",
      did: "approved a command-line tool for",
      beyondTeams: true,
    },
    "cli_authorization.denied": {
      label: "Command-line tool denied",
      did: "denied a command-line tool",
      beyondTeams: true,
    },
  },
});
