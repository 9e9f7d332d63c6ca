import { html } from "../../../../kit/html.ts";
import { page } from "../../../../platform/http/page.ts";
import { troubledJobs } from "../../../../platform/jobs/jobs.ts";
import { lastBackup, type ScheduledBackups, scheduledBackups } from "../../../../share/maintenance/maintenance.ts";
import { table } from "../../ui/list.ts";
import { empty, facts, pageHead, section } from "../../ui/parts.ts";
import { ago, bytes, duration, number } from "../../ui/units.ts";
import { frame } from "../frame.ts";
import type { ByOperator } from "../shared/call.ts";

/** Work in the background, for who runs the installation: what fails, and the backups that the server makes. */

function jobsPage(call: ByOperator) {
  const main = html`${pageHead({
    title: "Background work",
    intro: "Background jobs whose last run failed. The server tries each again by itself, with growing pauses.",
  })}
${table({
  caption: "Failing jobs",
  columns: [
    { label: "Job", heading: true, cell: ({ job }) => html`<code>${job}</code>` },
    { label: "Tries", numeric: true, cell: ({ tries }) => number(tries) },
    { label: "Last error", grow: true, cell: ({ cause }) => cause },
  ],
  rows: troubledJobs(call.core),
  empty: empty({ title: "No job fails", intro: "The last run of every background job went well." }),
})}
${backups(call)}`;
  return frame(call, { title: "Background work", main });
}

function backups({ core }: ByOperator) {
  const known = scheduledBackups(core);
  const last = lastBackup(core);
  const now = core.clock.now();
  if (!known && !last) return "";
  const list = [
    { label: "Last", value: last ? ago(last.at, now) : "never" },
    { label: "Size", value: last ? bytes(last.bytes) : "–" },
  ];
  const scheduled = known && [
    { label: "Next", value: nextOf(known, now) },
    { label: "Every", value: duration(known.everyMs) },
    { label: "Kept", value: `${known.kept.length} of ${core.config.backupKeep}` },
    { label: "In", value: html`<code>${known.folder}</code>` },
  ];
  return section({ title: "Backups", framed: true, body: facts([...list, ...(scheduled ?? [])]) });
}

function nextOf({ begunAt, nextAt }: ScheduledBackups, now: number) {
  if (begunAt !== null) return html`being made and verified, begun ${ago(begunAt, now)}`;
  return nextAt === now ? "due" : ago(nextAt, now);
}

export const jobPages = [page({ id: "jobs", method: "GET", path: "/jobs", access: "operator" }, jobsPage)];
