import { room } from "../../platform/rooms/rooms.ts";
import { runCommand } from "./run-command.ts";

/** The endpoint by which commands are run from elsewhere. */
export const remoteCommands = room({
  name: "remote-commands",
  tags: { "Remote commands": "The command line, for whoever has an API token." },
  endpoints: [runCommand],
  auditActions: { "command.run": { label: "Remote command run", did: "ran a command with the API token" } },
});
