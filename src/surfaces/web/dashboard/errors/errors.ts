import { attribution, freshenLinks } from "../../../../insight/causes/causes.ts";
import { DEFECT_KINDS } from "../../../../insight/defects/defects.ts";
import { countClasses } from "../../../../insight/triage/triage.ts";
import { type Html, html } from "../../../../kit/html.ts";
import { cooperative } from "../../../../kit/yield.ts";
import { page } from "../../../../platform/http/page.ts";
import { listRepositories } from "../../../../record/brain/brain.ts";
import { buttonLink } from "../../ui/button.ts";
import { filters } from "../../ui/list.ts";
import { codeBlock, columns, empty, pageHead, section } from "../../ui/parts.ts";
import { frame } from "../frame.ts";
import type { Member } from "../shared/call.ts";
import { kindName, link, repoKeyIn, repoName, repoOptions, setOf } from "../shared/links.ts";
import { readParams, selectFilter } from "../shared/params.ts";
import { viewMenu } from "../shared/views.ts";
import { attributionSection } from "./attribution.ts";
import { classPage, triagedClass } from "./classes.ts";
import { figures, undatedNote } from "./figures.ts";
import { type ErrorParams, listSection, PARAMS } from "./list.ts";
import { defectOf, entryPage, entryProof, judgeCause, sayCause, triagedEntry } from "./one.ts";
import { courseChart, courseOf } from "./trend.ts";
import { TRIAGE_ACTS, takeAct } from "./triage.ts";

/** The errors of the team's brains, and who takes them on. */

async function errorsPage(call: Member): Promise<Html> {
  const { core, session, query } = call;
  const team = session.team.id;
  await freshenLinks(core);
  const yieldNow = cooperative(core.clock);
  const params = readParams(PARAMS, query);
  const repoKey = repoKeyIn(params.repo);
  const repos = listRepositories(core, team).map((repository) => repository.repoKey);
  // Filters of the whole page: figures, list and chart. All others narrow only the list.
  const of = { repoKey, kind: params.kind };
  const course = await courseOf(call, of);
  if (course.entries === 0 && repoKey === undefined && of.kind === undefined)
    return frame(call, {
      title: "Errors",
      main: html`${pageHead(HEAD)}${nothing(call, repos.length)}${undatedNote(call, repoKey)}`,
    });
  await yieldNow();
  const causes = attribution(core, team, of);
  await yieldNow();
  const counts = await countClasses(core, team, of);
  await yieldNow();
  const kept = setOf({ repo: params.repo, kind: params.kind });
  const main = html`${pageHead({
    ...HEAD,
    actions: html`${ofWhat(call, repos, params)}${viewMenu(call, "/errors")}`,
  })}
${figures(call, { counts, course, causes, kept })}
${await listSection(call, params, causes)}
${
  !query.has("cursor") &&
  columns(
    section({ id: "trend", title: "Trend", body: courseChart(call, course, kept) }),
    attributionSection(call, causes, kept),
  )
}
${undatedNote(call, repoKey)}`;
  return frame(call, { title: "Errors", main, wide: true });
}

const HEAD = {
  title: "Errors",
  intro: "What went wrong, as the errors files of the brains record it, and who takes it on.",
  help: html`<p>Entries with the same prevention rule, or without one the same title, are one error. It is open while an entry says so, came again when there is a second entry, and resolved when neither holds.</p><p>What people say of it counts before the file: an error that somebody resolved stays so until another entry is dated later.</p>`,
};

function ofWhat(call: Member, repos: readonly string[], { repo, kind, ...others }: ErrorParams): Html {
  return filters({
    action: call.href("/errors"),
    label: "Choose what the page is of",
    hidden: setOf(others),
    clear: link(call, "/errors", setOf(others)),
    filters: [
      ...(repos.length > 1 || repo !== ""
        ? [
            selectFilter(
              { name: "repo", label: "Repository", value: repo },
              "all repositories",
              repoOptions(repos),
              repoName,
            ),
          ]
        : []),
      selectFilter(
        { name: "kind", label: "Kind", value: kind ?? "" },
        "all kinds",
        DEFECT_KINDS.map((value) => ({ value, label: kindName(value) })),
      ),
    ],
  });
}

const SAMPLE = `## 2026-11-20 Login loop after the deploy

Since commit 3f2a9c1 the cookie had no path, in src/session.ts.

**Prevention rule:** set Path on every cookie.

**Status:** open`;

function nothing(call: Member, repos: number): Html {
  return html`${empty({
    title: "No entries yet",
    intro:
      repos === 0
        ? "Agents write down what went wrong in .claude/brain/errors.md and publish it with the rest of the brain. Nothing was published so far."
        : "The published brains hold no dated entry. Agents write down what went wrong in .claude/brain/errors.md, newest first, each below a heading that begins with its date.",
    actions: buttonLink(repos === 0 ? "How to publish a brain" : "To the brain", call.href("/brain")),
  })}
${section({ title: "What an entry looks like", body: codeBlock(SAMPLE, { label: "An entry", wrap: true }) })}`;
}

const access = "member";

export const errorPages = [
  page({ id: "errors", method: "GET", path: "/errors", access }, errorsPage),
  page({ id: "errorClass", method: "GET", path: "/errors/classes/:fingerprint", access }, async (call) => {
    await freshenLinks(call.core);
    return classPage(call);
  }),
  page({ id: "errorEntry", method: "GET", path: "/errors/:id", access }, async (call) => {
    await freshenLinks(call.core);
    return entryPage(call, defectOf(call));
  }),
  page({ id: "errorProof", method: "GET", path: "/errors/:id/proof", access }, entryProof),
  ...TRIAGE_ACTS.flatMap((name) => [
    page(
      { id: `errorClassTriage-${name}`, method: "POST", path: `/errors/classes/:fingerprint/${name}`, access },
      (call) => takeAct(call, name, triagedClass(call), (error) => classPage(call, error)),
    ),
    page({ id: `errorTriage-${name}`, method: "POST", path: `/errors/:id/${name}`, access }, (call) => {
      const defect = defectOf(call);
      return takeAct(call, name, triagedEntry(call, defect), (error) => entryPage(call, defect, error));
    }),
  ]),
  page({ id: "errorSayCause", method: "POST", path: "/errors/:id/links", access }, sayCause),
  page({ id: "errorJudgeCause", method: "POST", path: "/errors/:id/links/:link", access }, judgeCause),
];
