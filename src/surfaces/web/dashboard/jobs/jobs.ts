import { html } from "../../../../kit/html.ts";
import { page } from "../../../../platform/http/page.ts";
import { unfinishedJobs } from "../../../../platform/jobs/jobs.ts";
import { table } from "../../ui/list.ts";
import { empty, pageHead } from "../../ui/parts.ts";
import { ago, number } from "../../ui/units.ts";
import { frame } from "../frame.ts";
import type { ByOperator } from "../shared/call.ts";

/** Work in the background, for who runs the installation: what waits, what fails, and when it is tried again. */

function jobsPage(call: ByOperator) {
  const { core } = call;
  const now = core.clock.now();
  const main = html`${pageHead({
    title: "Background work",
    intro:
      "What waits to be done, and what failed when it was tried last. The server tries it again by itself, less and less often.",
  })}
${table({
  caption: "Unfinished jobs",
  columns: [
    { label: "Job", heading: true, cell: ({ job }) => html`<code>${job}</code>` },
    { label: "Waiting", numeric: true, cell: ({ waiting }) => (waiting === null ? "–" : number(waiting)) },
    { label: "Tries", numeric: true, cell: ({ tries }) => number(tries) },
    {
      label: "Next try",
      cell: ({ waiting, nextTryAt }) => (waiting === null ? "at its interval" : ago(nextTryAt, now)),
    },
    { label: "Last error", grow: true, cell: ({ cause }) => cause ?? "–" },
  ],
  rows: unfinishedJobs(core),
  empty: empty({ title: "All is done", intro: "Nothing waits, and nothing failed when it was tried last." }),
})}`;
  return frame(call, { title: "Background work", main });
}

export const jobPages = [page({ id: "jobs", method: "GET", path: "/jobs", access: "operator" }, jobsPage)];
