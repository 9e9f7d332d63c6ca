/**
 * The dashboard: pages for people, drawn on the server.
 * Not here: SQL and decisions, which belong to the rooms whose doors it calls; how a request for a page is served (http).
 */
import type { Page } from "../http/page.ts";
import { assets } from "./assets.ts";
import { accountPages } from "./pages/account.ts";
import { approvalPages } from "./pages/approval.ts";
import { auditPages } from "./pages/audit.ts";
import { brainPages } from "./pages/brain.ts";
import { devicePages } from "./pages/devices.ts";
import { errorPages } from "./pages/errors.ts";
import { licensePages } from "./pages/license.ts";
import { linkPages } from "./pages/links.ts";
import { myBrainPages } from "./pages/my-brain.ts";
import { overviewPages } from "./pages/overview.ts";
import { packPages } from "./pages/packs.ts";
import { peoplePages } from "./pages/people.ts";
import { policyPages } from "./pages/policy.ts";
import { releasePages } from "./pages/releases.ts";
import { requestPages } from "./pages/requests.ts";
import { sessionPages } from "./pages/sessions.ts";
import { settingsPages } from "./pages/settings.ts";
import { signInPages } from "./pages/sign-in.ts";
import { spendPages } from "./pages/spend.ts";
import { telemetryPages } from "./pages/telemetry.ts";

export { errorPage } from "./pages/error.ts";

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
