/**
 * The dashboard: pages for people, drawn on the server.
 * Not here: SQL and decisions, which belong to the rooms whose doors it calls; how a request for a page is served (http).
 */
import type { Page } from "../../../platform/http/page.ts";
import { type Place, type Room, room } from "../../../platform/rooms/rooms.ts";
import { assets } from "../ui/assets.ts";
import { ICONS } from "../ui/icons.ts";
import { accountPages } from "./account/account.ts";
import { approvalPages } from "./account/approval.ts";
import { apiTokenPages, watchApiTokens } from "./api-tokens/api-tokens.ts";
import { auditPages } from "./audit/audit.ts";
import { brainPages } from "./brain/brain.ts";
import { devicePages } from "./devices/devices.ts";
import { watchDevices } from "./devices/watch.ts";
import { errorPages } from "./errors/errors.ts";
import { watchErrors } from "./errors/watch.ts";
import { evidencePages } from "./evidence/evidence.ts";
import { jobPages } from "./jobs/jobs.ts";
import { watchInstallation } from "./jobs/watch.ts";
import { licensePages } from "./license/license.ts";
import { watchLicense } from "./license/watch.ts";
import { livePages } from "./live/live.ts";
import { myBrainPages } from "./my-brain/my-brain.ts";
import { EVIDENCE, INSTALLATION, TEAM, WORK } from "./navigation.ts";
import { installationNotificationPages, notificationPages } from "./notifications/notifications.ts";
import { overviewPages } from "./overview/overview.ts";
import { curatePages } from "./packs/curate.ts";
import { packPages } from "./packs/packs.ts";
import { peoplePages } from "./people/people.ts";
import { policyPages } from "./policy/policy.ts";
import { releasePages } from "./releases/releases.ts";
import { repositoryPages } from "./repositories/repositories.ts";
import { requestPages } from "./requests/requests.ts";
import { retentionPages } from "./retention/retention.ts";
import { searchPages } from "./search/search.ts";
import { sessionPages } from "./sessions/sessions.ts";
import { watchSessions } from "./sessions/watch.ts";
import { settingsPages } from "./settings/settings.ts";
import { viewPages } from "./shared/views.ts";
import { linkPages } from "./sign-in/links.ts";
import { signInPages } from "./sign-in/sign-in.ts";
import { ssoPages } from "./sign-in/sso.ts";
import { spendPages } from "./spend/spend.ts";
import { watchSpend } from "./spend/watch.ts";
import { telemetryPages } from "./telemetry/telemetry.ts";
import { watchDeliveries } from "./telemetry/watch.ts";

export { errorPage } from "./error.ts";

const place = (name: string, pages: readonly Page[], ...places: Place[]): Room =>
  room({ name: `dashboard/${name}`, pages, places });

/** The places of the dashboard, in the order of its navigation. What a group is, `navigation.ts` says. */
export const dashboard: readonly Room[] = [
  place("entrance", [assets, ...signInPages, ...ssoPages, ...linkPages, ...approvalPages]),
  place("account", accountPages),
  place("search", searchPages),
  place("live", livePages),
  place("overview", overviewPages, {
    ...WORK,
    path: "/overview",
    label: "Overview",
    icon: ICONS.overview,
    teamless: true,
  }),
  place("sessions", sessionPages, {
    ...WORK,
    path: "/sessions",
    label: "Sessions",
    icon: ICONS.sessions,
    watch: watchSessions,
  }),
  place("errors", errorPages, { ...WORK, path: "/errors", label: "Errors", icon: ICONS.errors, watch: watchErrors }),
  place("spend", spendPages, { ...WORK, path: "/spend", label: "Spend", icon: ICONS.spend, watch: watchSpend }),
  place("repositories", repositoryPages, {
    ...WORK,
    path: "/repositories",
    label: "Repositories",
    icon: ICONS.repositories,
  }),
  place("views", viewPages),
  place("brain", brainPages, { ...WORK, path: "/brain", label: "Brain", icon: ICONS.brain }),
  place("evidence", evidencePages, { ...EVIDENCE, path: "/evidence", label: "Evidence", icon: ICONS.evidence }),
  place("devices", devicePages, {
    ...EVIDENCE,
    path: "/devices",
    label: "Devices",
    icon: ICONS.devices,
    watch: watchDevices,
  }),
  place("telemetry", telemetryPages, {
    ...EVIDENCE,
    path: "/telemetry",
    label: "Telemetry",
    icon: ICONS.telemetry,
    watch: watchDeliveries,
  }),
  place("audit", auditPages, {
    ...EVIDENCE,
    path: "/audit",
    label: "Audit",
    icon: ICONS.audit,
    admin: true,
    operator: true,
  }),
  place("people", peoplePages, { ...TEAM, path: "/people", label: "People" }),
  place("policy", policyPages, { ...TEAM, path: "/policy", label: "Policy" }),
  place("retention", retentionPages, { ...TEAM, path: "/retention", label: "Retention", admin: true }),
  place("packs", packPages, { ...TEAM, path: "/packs", label: "Packs" }),
  place("license", licensePages, { ...TEAM, path: "/license", label: "Licence", billing: true, watch: watchLicense }),
  place("notifications", notificationPages, {
    ...TEAM,
    path: "/notifications",
    label: "Notifications",
    admin: true,
  }),
  place("api-tokens", apiTokenPages, {
    ...TEAM,
    path: "/api-tokens",
    label: "API tokens",
    admin: true,
    watch: watchApiTokens,
  }),
  place("my-brain", myBrainPages, { ...TEAM, path: "/my-brain", label: "Read tokens", teamless: true }),
  place(
    "settings",
    settingsPages,
    { ...INSTALLATION, path: "/settings", label: "Settings" },
    { ...INSTALLATION, path: "/settings/teams", label: "Teams" },
    { ...INSTALLATION, path: "/settings/people", label: "Accounts" },
    { ...INSTALLATION, path: "/settings/sso", label: "Single sign-on" },
    { ...INSTALLATION, path: "/settings/limits", label: "Configuration" },
  ),
  place("releases", releasePages, { ...INSTALLATION, path: "/settings/releases", label: "Installers" }),
  place("installation-notifications", installationNotificationPages, {
    ...INSTALLATION,
    path: "/installation-notifications",
    label: "Notifications",
  }),
  place("jobs", jobPages, { ...INSTALLATION, path: "/jobs", label: "Background work", watch: watchInstallation }),
  place("requests", requestPages, { ...INSTALLATION, path: "/requests", label: "Requests" }),
  place("curate", curatePages, { ...INSTALLATION, path: "/curate", label: "Pack curation" }),
];
