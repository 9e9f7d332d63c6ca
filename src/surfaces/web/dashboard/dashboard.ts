/**
 * The dashboard: pages for people, drawn on the server.
 * Not here: SQL and decisions, which belong to the rooms whose doors it calls; how a request for a page is served (http).
 */
import type { Page } from "../../../platform/http/page.ts";
import { assets } from "../ui/assets.ts";
import { accountPages } from "./account/account.ts";
import { approvalPages } from "./account/approval.ts";
import { auditPages } from "./audit/audit.ts";
import { brainPages } from "./brain/brain.ts";
import { devicePages } from "./devices/devices.ts";
import { errorPages } from "./errors/errors.ts";
import { licensePages } from "./license/license.ts";
import { myBrainPages } from "./my-brain/my-brain.ts";
import { overviewPages } from "./overview/overview.ts";
import { packPages } from "./packs/packs.ts";
import { peoplePages } from "./people/people.ts";
import { policyPages } from "./policy/policy.ts";
import { releasePages } from "./releases/releases.ts";
import { requestPages } from "./requests/requests.ts";
import { sessionPages } from "./sessions/sessions.ts";
import { settingsPages } from "./settings/settings.ts";
import { linkPages } from "./sign-in/links.ts";
import { signInPages } from "./sign-in/sign-in.ts";
import { spendPages } from "./spend/spend.ts";
import { telemetryPages } from "./telemetry/telemetry.ts";

export { errorPage } from "./error.ts";

/** Every page, for the router and the tests. */
export const PAGES: readonly Page[] = [
  assets,
  ...signInPages,
  ...linkPages,
  ...approvalPages,
  ...overviewPages,
  ...devicePages,
  ...brainPages,
  ...sessionPages,
  ...errorPages,
  ...spendPages,
  ...telemetryPages,
  ...policyPages,
  ...licensePages,
  ...peoplePages,
  ...packPages,
  ...auditPages,
  ...settingsPages,
  ...releasePages,
  ...requestPages,
  ...myBrainPages,
  ...accountPages,
];
