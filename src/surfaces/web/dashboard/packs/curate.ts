import { verifyTeam } from "../../../../identity/teams/teams.ts";
import { type Html, html } from "../../../../kit/html.ts";
import { fail, invalid, notFound } from "../../../../kit/problem.ts";
import { page, redirect } from "../../../../platform/http/page.ts";
import {
  type Curation,
  curatePack,
  findOwnPack,
  listAllPacks,
  listPublishers,
  type OwnPack,
} from "../../../../share/packs/packs.ts";
import { confirmButton } from "../../ui/confirm.ts";
import { type FormError, formSpec } from "../../ui/form-spec.ts";
import { table } from "../../ui/list.ts";
import { badge, empty, pageHead, section } from "../../ui/parts.ts";
import { ago, bytes } from "../../ui/units.ts";
import { frame } from "../frame.ts";
import { type ByOperator, by } from "../shared/call.ts";
import { handleForm } from "../shared/forms.ts";
import { listPage, pagesAfter } from "../shared/list.ts";
import { choice, flag, readParams, text } from "../shared/params.ts";
import { stateBadges, whyTable } from "./labels.ts";

/** What the people who run the installation decide about everybody's packs. */

const PATH = "/curate";
const PAGE = 50;

function curatePage(call: ByOperator): Html {
  const { core, query, href } = call;
  const now = core.clock.now();
  const { q, after } = readParams({ q: text(200), after: text(100) }, query);
  const { rows, next } = listAllPacks(core, q, PAGE, after);
  return listPage(call, {
    title: "Pack curation",
    intro: html`Every team’s packs. Feature what is good, remove what is not. <a href="${href("/marketplace")}">See it as everybody does</a>.`,
    wide: true,
    below: publishersSection(call),
    path: PATH,
    params: { q },
    id: "packs",
    label: "Find packs",
    filters: [{ kind: "search", name: "q", label: "Name, title or publisher", value: q }],
    table: {
      caption: "Packs",
      columns: [
        {
          label: "Pack",
          heading: true,
          grow: true,
          cell: (pack) =>
            html`<a href="${href(`${PATH}/${pack.name}`)}">${pack.title}</a><br><small><code>${pack.name}</code> ${pack.version}</small>`,
        },
        { label: "State", cell: stateBadges },
        {
          label: "Publisher",
          cell: (pack) => html`${pack.publisher.name}${pack.publisher.verified && html` ${badge("good", "verified")}`}`,
        },
        { label: "Installs", numeric: true, cell: (pack) => pack.installs },
        { label: "Rank", numeric: true, cell: (pack) => pack.rank },
        { label: "Published", cell: (pack) => ago(pack.publishedAt, now) },
      ],
      rows,
      empty: q
        ? empty({ title: "Nothing like that", intro: "No pack matches. Search for other words." })
        : empty({
            title: "No packs yet",
            intro: "Teams publish them on their Packs page, or from a terminal:",
            code: "reckon pack publish --help",
          }),
    },
    pages: pagesAfter(after, next),
  });
}

function publishersSection(call: ByOperator): Html {
  const { core } = call;
  const now = core.clock.now();
  return section({
    title: "Publishers",
    intro: "Verify a team when you know who they are: everybody sees it, and their packs rank higher.",
    body: table({
      caption: "Publishers",
      columns: [
        { label: "Team", heading: true, grow: true, cell: (publisher) => publisher.name },
        { label: "Packs", numeric: true, cell: (publisher) => publisher.packs },
        {
          label: "Verified",
          cell: (publisher) =>
            publisher.verifiedAt === null
              ? badge("neutral", "no")
              : html`${badge("good", "yes")} ${ago(publisher.verifiedAt, now)}`,
        },
        {
          label: "Decide",
          hidden: true,
          cell: (publisher) =>
            confirmButton(call, {
              action: `${PATH}/publishers/${publisher.id}`,
              hidden: { verified: publisher.verifiedAt === null ? "true" : "false" },
              label: publisher.verifiedAt === null ? "Verify" : "Revoke",
              question:
                publisher.verifiedAt === null
                  ? `Do you know that “${publisher.name}” is who it says it is?`
                  : `Is “${publisher.name}” verified no longer?`,
              confirm: publisher.verifiedAt === null ? "Verify the team" : "Revoke it",
              look: "plain",
              small: true,
            }),
        },
      ],
      rows: listPublishers(core),
      empty: empty({ title: "No publishers yet", intro: "Teams appear here once they publish a pack." }),
    }),
  });
}

const REMOVAL = formSpec({
  reason: { kind: "text", label: "Why", required: true, maxLength: 300 },
});

function onePage(call: ByOperator, pack: OwnPack, error?: FormError): Html {
  const { href, core } = call;
  const action = `${PATH}/${pack.name}`;
  const featuring = confirmButton(call, {
    action,
    hidden: { act: pack.featured ? "unfeature" : "feature" },
    label: pack.featured ? "Stop featuring" : "Feature",
    question: pack.featured
      ? `Show “${pack.title}” among the featured packs no longer?`
      : `Show “${pack.title}” first, to everybody?`,
    confirm: pack.featured ? "Stop featuring it" : "Feature it",
    look: "plain",
  });
  const main = html`${pageHead({
    title: pack.title,
    intro: pack.summary,
    crumbs: [{ label: "Pack curation", href: href(PATH) }, { label: pack.name }],
    actions:
      !pack.removed &&
      html`${pack.withheld === null && html`<a class="button" href="${href(`/marketplace/${pack.name}`)}">Public page</a>`} ${featuring}`,
  })}
<div class="card"><dl class="facts">
<div><dt>Name</dt><dd><code>${pack.name}</code> ${pack.version}</dd></div>
<div><dt>State</dt><dd>${stateBadges(pack)}${!pack.removed && pack.withheld !== null && html` ${pack.withheld}`}</dd></div>
<div><dt>Publisher</dt><dd>${pack.publisher.name} ${pack.publisher.verified ? badge("good", "verified") : badge("neutral", "not verified")}</dd></div>
<div><dt>Licence</dt><dd>${pack.license}</dd></div>
<div><dt>Archive</dt><dd>${bytes(pack.bytes)}, <code>${pack.sha256}</code></dd></div>
</dl></div>
${section({ title: html`Rank: ${pack.rank}`, body: whyTable(pack.why, pack.rank) })}
${
  pack.removed
    ? section({
        title: "Bring it back",
        intro: html`Removed ${ago(pack.removed.at, core.clock.now())}: ${pack.removed.reason}`,
        body: confirmButton(call, {
          action,
          hidden: { act: "restore" },
          label: "Bring it back",
          question: `May everybody find and install “${pack.title}” again?`,
          confirm: "Bring it back",
          look: "plain",
        }),
      })
    : section({
        title: "Remove",
        intro: "Nobody finds or installs it any more; the publisher and whoever looks for it are told why.",
        framed: true,
        body: REMOVAL.draw(call, {
          action,
          hidden: { act: "remove" },
          error,
          wrong: error && "Say why: its page tells whoever looks for it.",
          submit: "Remove the pack",
          danger: true,
          confirm: `Remove “${pack.title}”?`,
        }),
      })
}`;
  return frame(call, { title: pack.title, main });
}

/** The pack of exactly that name. */
function packIn({ core, params }: ByOperator): OwnPack {
  const pack = findOwnPack(core, null, params.name ?? "");
  if (!pack) fail(notFound, "There is no such pack.");
  return pack;
}

const DONE = {
  feature: "is featured.",
  unfeature: "is not featured any more.",
  remove: "is removed.",
  restore: "is back.",
} as const;

function readCuration({ form }: ByOperator): Curation {
  const { act } = readParams({ act: choice(["feature", "unfeature", "remove", "restore"]) }, form);
  if (act === undefined) fail(invalid, "Choose what to do with the pack.");
  return act === "remove" ? { act, ...REMOVAL.read(form) } : { act };
}

const access = "operator";

export const curatePages = [
  page({ id: "curate", method: "GET", path: PATH, access }, curatePage),
  page({ id: "curatePack", method: "GET", path: `${PATH}/:name`, access }, (call) => onePage(call, packIn(call))),
  page({ id: "curateDecide", method: "POST", path: `${PATH}/:name`, access }, (call) => {
    const pack = packIn(call);
    const curation = readCuration(call);
    return handleForm(
      call,
      REMOVAL,
      async () => {
        await curatePack(call.core, pack.name, curation, by(call));
        return redirect(`${PATH}/${pack.name}`, `${pack.title} ${DONE[curation.act]}`);
      },
      (error) => {
        if (curation.act !== "remove") throw error.problem;
        return onePage(call, pack, error);
      },
    );
  }),
  page({ id: "curatePublisher", method: "POST", path: `${PATH}/publishers/:team`, access }, async (call) => {
    const { verified } = readParams({ verified: flag }, call.form);
    await verifyTeam(call.core, call.params.team ?? "", verified, by(call));
    return redirect(PATH, verified ? "The publisher is verified." : "The publisher is verified no longer.");
  }),
];
