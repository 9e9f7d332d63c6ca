import { apiTokenCommands } from "./api-token.ts";
import { auditCommand } from "./audit.ts";
import { budgetCommands } from "./budget.ts";
import { cliCommands } from "./cli.ts";
import { codeCommands } from "./code.ts";
import { deviceCommands } from "./device.ts";
import { eraseCommand } from "./erase.ts";
import { errorCommands } from "./error.ts";
import { exportCommand } from "./export.ts";
import { holdCommands } from "./hold.ts";
import { jobsCommands } from "./jobs.ts";
import { keyCommands } from "./key.ts";
import { licenseCommands } from "./license.ts";
import { packCommands } from "./pack.ts";
import { policyCommands } from "./policy.ts";
import type { AddCommands } from "./program.ts";
import { readTokenCommands } from "./read-token.ts";
import { releaseCommands } from "./release.ts";
import { requestCommands } from "./request.ts";
import { retentionCommands } from "./retention.ts";
import { spendCommands } from "./spend.ts";
import { ssoCommands } from "./sso.ts";
import { teamCommands } from "./team.ts";
import { userCommands } from "./user.ts";
import { webhookCommands } from "./webhook.ts";

/** The groups with commands that can be run from elsewhere, see `remote.ts`; a server knows no others. */
export const REMOTE_COMMANDS: readonly AddCommands[] = [
  teamCommands,
  userCommands,
  ssoCommands,
  codeCommands,
  deviceCommands,
  cliCommands,
  readTokenCommands,
  apiTokenCommands,
  webhookCommands,
  policyCommands,
  licenseCommands,
  requestCommands,
  releaseCommands,
  packCommands,
  spendCommands,
  budgetCommands,
  errorCommands,
  keyCommands,
  jobsCommands,
  auditCommand,
  eraseCommand,
  exportCommand,
  holdCommands,
  retentionCommands,
];
