import { actorOf } from "../../../../identity/accounts/accounts.ts";
import { type Html, html } from "../../../../kit/html.ts";
import { fail, invalid, notFound, Problem } from "../../../../kit/problem.ts";
import { page, redirect } from "../../../../platform/http/page.ts";
import {
  type Curation,
  curatePack,
  findAnyPack,
  listAllPacks,
  listPublishers,
  type OwnPack,
  verifyPublisher,
} from "../../../../share/packs/packs.ts";
import { confirmButton } from "../../ui/confirm.ts";
import { field } from "../../ui/field.ts";
import { form } from "../../ui/form.ts";
import { table } from "../../ui/list.ts";
import { badge, empty, pageHead, section } from "../../ui/parts.ts";
import { ago, bytes } from "../../ui/units.ts";
import { frame } from "../frame.ts";
import type { ByOperator } from "../shared/call.ts";
import { listPage, PREVIOUS_NEXT } from "../shared/list.ts";
import { textIn } from "../shared/params.ts";
import { stateBadges, whyTable } from "./labels.ts";

/** What the people who run the installation decide about everybody's packs. */

const PATH = "/curate";
const PAGE = 50;

function curatePage(call: ByOperator): Html {
  const { core, query, href } = call;
  const now = core.clock.now();
  const q = textIn(query, "q", 200);
  const after = textIn(query, "after", 100);
  const { rows, next } = listAllPacks(core, q, PAGE, after);
  return listPage(call, {
    title: "Marketplace",
    says: html`Every team’s packs. Feature what is good, remove what is not. <a href="${href("/marketplace")}">See it as everybody does</a>.`,
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
        ? empty({ title: "Nothing like that", says: "No pack matches. Search for other words." })
        : empty({
            title: "No packs yet",
            says: "Teams publish them on their Packs page, or from a terminal:",
            code: "reckon pack publish --help",
          }),
    },
    pages: { labels: PREVIOUS_NEXT, first: after !== "", older: { after: next } },
  });
}

function publishersSection(call: ByOperator): Html {
  const { core, href, csrf } = call;
  const now = core.clock.now();
  return section({
    title: "Publishers",
    says: "Verify a team when you know who they are: everybody sees it, and their packs rank higher.",
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
            confirmButton({
              action: href(`${PATH}/publishers/${publisher.id}`),
              csrf,
              hidden: { verified: publisher.verifiedAt === null ? "true" : "false" },
              label: publisher.verifiedAt === null ? "Verify" : "Take back",
              question:
                publisher.verifiedAt === null
                  ? `Do you know that “${publisher.name}” is who it says it is?`
                  : `Is “${publisher.name}” verified no longer?`,
              confirm: publisher.verifiedAt === null ? "Verify the team" : "Take it back",
              look: "plain",
              small: true,
            }),
        },
      ],
      rows: listPublishers(core),
      empty: empty({ title: "No publishers yet", says: "Teams appear here once they publish a pack." }),
    }),
  });
}

function onePage(call: ByOperator, pack: OwnPack, wrong?: string): Html {
  const { href, csrf, core } = call;
  const action = href(`${PATH}/${pack.name}`);
  const featuring = confirmButton({
    action,
    csrf,
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
    says: pack.summary,
    crumbs: [{ label: "Marketplace", href: href(PATH) }, { label: pack.name }],
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
        says: html`Removed ${ago(pack.removed.at, core.clock.now())}: ${pack.removed.reason}`,
        body: confirmButton({
          action,
          csrf,
          hidden: { act: "restore" },
          label: "Bring it back",
          question: `May everybody find and install “${pack.title}” again?`,
          confirm: "Bring it back",
          look: "plain",
        }),
      })
    : section({
        title: "Remove",
        says: "Nobody finds or installs it any more; the publisher and whoever looks for it are told why.",
        framed: true,
        body: form({
          action,
          csrf,
          wrong,
          hidden: { act: "remove" },
          fields: field({ kind: "text", name: "reason", label: "Why", required: true, maxLength: 300 }),
          submit: "Remove the pack",
          danger: true,
          confirm: `Remove “${pack.title}”?`,
        }),
      })
}`;
  return frame(call, { title: pack.title, main });
}

/** The pack of exactly that name. */
function wanted({ core, params }: ByOperator): OwnPack {
  const pack = findAnyPack(core, params.name ?? "");
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
  const act = form.get("act");
  if (act === "remove") return { act, reason: form.get("reason") ?? "" };
  if (act === "feature" || act === "unfeature" || act === "restore") return { act };
  fail(invalid, "Choose what to do with the pack.");
}

const access = "operator";

export const curatePages = [
  page({ id: "curate", method: "GET", path: PATH, access }, curatePage),
  page({ id: "curatePack", method: "GET", path: `${PATH}/:name`, access }, (call) => onePage(call, wanted(call))),
  page({ id: "curateDecide", method: "POST", path: `${PATH}/:name`, access }, async (call) => {
    const pack = wanted(call);
    const curation = readCuration(call);
    try {
      await curatePack(call.core, pack.name, curation, actorOf(call.session, call.ip()));
    } catch (error) {
      if (!(error instanceof Problem) || curation.act !== "remove") throw error;
      return { status: error.status, body: onePage(call, pack, "Say why: its page tells whoever looks for it.") };
    }
    return redirect(`${PATH}/${pack.name}`, `${pack.title} ${DONE[curation.act]}`);
  }),
  page({ id: "curatePublisher", method: "POST", path: `${PATH}/publishers/:team`, access }, async (call) => {
    const { core, form, params } = call;
    const verified = form.get("verified") === "true";
    await verifyPublisher(core, params.team ?? "", verified, actorOf(call.session, call.ip()));
    return redirect(PATH, verified ? "The publisher is verified." : "The publisher is verified no longer.");
  }),
];
