import { agentCommands } from "./agent.ts";
import { devCommand } from "./dev.ts";
import { lakeCommands } from "./lake.ts";
import { ledgerCommands } from "./ledger.ts";
import { maintenanceCommands } from "./maintenance.ts";
import { mcpCommand } from "./mcp.ts";
import { monitoringCommands } from "./monitoring.ts";
import { noticesCommand } from "./notices.ts";
import { openapiCommand } from "./openapi.ts";
import type { AddCommands } from "./program.ts";
import { REMOTE_COMMANDS } from "./remote-commands.ts";
import { replicaCommands } from "./replica.ts";
import { restoreCommand } from "./restore.ts";
import { serveCommand } from "./serve.ts";

/** All commands, in the order in which they are listed. */
export const COMMANDS: readonly AddCommands[] = [
  serveCommand,
  devCommand,
  agentCommands,
  mcpCommand,
  ...REMOTE_COMMANDS,
  maintenanceCommands,
  restoreCommand,
  replicaCommands,
  lakeCommands,
  ledgerCommands,
  openapiCommand,
  monitoringCommands,
  noticesCommand,
];
