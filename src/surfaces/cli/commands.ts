import type { Command } from "commander";
import { agentCommands } from "./agent.ts";
import { apiTokenCommands } from "./api-token.ts";
import { budgetCommands } from "./budget.ts";
import { cliCommands } from "./cli.ts";
import { codeCommands } from "./code.ts";
import type { Cli } from "./context.ts";
import { devCommand } from "./dev.ts";
import { deviceCommands } from "./device.ts";
import { eraseCommand } from "./erase.ts";
import { exportCommand } from "./export.ts";
import { holdCommands } from "./hold.ts";
import { jobsCommands } from "./jobs.ts";
import { keyCommands } from "./key.ts";
import { ledgerCommands } from "./ledger.ts";
import { licenseCommands } from "./license.ts";
import { maintenanceCommands } from "./maintenance.ts";
import { mcpCommand } from "./mcp.ts";
import { monitoringCommands } from "./monitoring.ts";
import { noticesCommand } from "./notices.ts";
import { openapiCommand } from "./openapi.ts";
import { packCommands } from "./pack.ts";
import { policyCommands } from "./policy.ts";
import { readTokenCommands } from "./read-token.ts";
import { releaseCommands } from "./release.ts";
import { requestCommands } from "./request.ts";
import { retentionCommands } from "./retention.ts";
import { serveCommand } from "./serve.ts";
import { spendCommands } from "./spend.ts";
import { teamCommands } from "./team.ts";
import { userCommands } from "./user.ts";

/** All commands, in the order in which they are listed. */
export const COMMANDS: readonly ((program: Command, cli: Cli) => void)[] = [
  serveCommand,
  devCommand,
  agentCommands,
  teamCommands,
  userCommands,
  codeCommands,
  deviceCommands,
  cliCommands,
  readTokenCommands,
  apiTokenCommands,
  mcpCommand,
  policyCommands,
  licenseCommands,
  requestCommands,
  releaseCommands,
  packCommands,
  spendCommands,
  budgetCommands,
  keyCommands,
  jobsCommands,
  eraseCommand,
  exportCommand,
  holdCommands,
  retentionCommands,
  maintenanceCommands,
  ledgerCommands,
  openapiCommand,
  monitoringCommands,
  noticesCommand,
];
