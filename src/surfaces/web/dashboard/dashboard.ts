/**
 * The dashboard: pages for people, drawn on the server.
 * Not here: SQL and decisions, which belong to the rooms whose doors it calls; how a request for a page is served (http).
 */
import type { Page } from "../../../platform/http/page.ts";
import { type Place, type Room, room } from "../../../platform/rooms/rooms.ts";
import { assets } from "../ui/assets.ts";
import { accountPages } from "./account/account.ts";
import { approvalPages } from "./account/approval.ts";
import { apiTokenPages } from "./api-tokens/api-tokens.ts";
import { auditPages } from "./audit/audit.ts";
import { brainPages } from "./brain/brain.ts";
import { devicePages } from "./devices/devices.ts";
import { errorPages } from "./errors/errors.ts";
import { jobPages } from "./jobs/jobs.ts";
import { licensePages } from "./license/license.ts";
import { myBrainPages } from "./my-brain/my-brain.ts";
import { overviewPages } from "./overview/overview.ts";
import { curatePages } from "./packs/curate.ts";
import { packPages } from "./packs/packs.ts";
import { peoplePages } from "./people/people.ts";
import { policyPages } from "./policy/policy.ts";
import { releasePages } from "./releases/releases.ts";
import { repositoryPages } from "./repositories/repositories.ts";
import { requestPages } from "./requests/requests.ts";
import { retentionPages } from "./retention/retention.ts";
import { sessionPages } from "./sessions/sessions.ts";
import { settingsPages } from "./settings/settings.ts";
import { viewPages } from "./shared/views.ts";
import { linkPages } from "./sign-in/links.ts";
import { signInPages } from "./sign-in/sign-in.ts";
import { spendPages } from "./spend/spend.ts";
import { telemetryPages } from "./telemetry/telemetry.ts";

export { errorPage } from "./error.ts";

const place = (name: string, pages: readonly Page[], ...places: Place[]): Room =>
  room({ name: `dashboard/${name}`, pages, places });

/** The places of the dashboard, in the order of its navigation. */
export const dashboard: readonly Room[] = [
  place("entrance", [assets, ...signInPages, ...linkPages, ...approvalPages]),
  place("overview", overviewPages, { path: "/overview", label: "Overview" }),
  place("devices", devicePages, { path: "/devices", label: "Devices" }),
  place("brain", brainPages, { path: "/brain", label: "Brain", group: "Record" }),
  place("sessions", sessionPages, { path: "/sessions", label: "Sessions", group: "Record" }),
  place("repositories", repositoryPages, { path: "/repositories", label: "Repositories", group: "Record" }),
  place("views", viewPages),
  place("telemetry", telemetryPages, { path: "/telemetry", label: "Telemetry", group: "Record" }),
  place("errors", errorPages, { path: "/errors", label: "Errors", group: "Team" }),
  place("spend", spendPages, { path: "/spend", label: "Spend", group: "Team" }),
  place("policy", policyPages, { path: "/policy", label: "Policy", group: "Team" }),
  place("retention", retentionPages, { path: "/retention", label: "Retention", group: "Team", admin: true }),
  place("license", licensePages, { path: "/license", label: "Licence", group: "Team", billing: true }),
  place("packs", packPages, { path: "/packs", label: "Packs", group: "Team" }),
  place("people", peoplePages, { path: "/people", label: "People", group: "Team" }),
  place("audit", auditPages, { path: "/audit", label: "Audit", group: "Team", admin: true }),
  place("api-tokens", apiTokenPages, { path: "/api-tokens", label: "API tokens", group: "Team", admin: true }),
  place("my-brain", myBrainPages, { path: "/my-brain", label: "My Brain", group: "You" }),
  place("account", accountPages, { path: "/account", label: "Your account", group: "You" }),
  place("settings", settingsPages, { path: "/settings", label: "Settings", group: "Installation", operator: true }),
  place("jobs", jobPages, { path: "/jobs", label: "Background work", group: "Installation", operator: true }),
  place("releases", releasePages),
  place("requests", requestPages, { path: "/requests", label: "Requests", group: "Installation", operator: true }),
  place("curate", curatePages, { path: "/curate", label: "Marketplace", group: "Installation", operator: true }),
];
