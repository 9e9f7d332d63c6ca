import { actorOf } from "../../../../identity/accounts/accounts.ts";
import { type Html, html } from "../../../../kit/html.ts";
import { fail, invalid, notFound, Problem } from "../../../../kit/problem.ts";
import { type PageCall, page, redirect } from "../../../../platform/http/page.ts";
import {
  type Curation,
  curatePack,
  findAnyPack,
  listAllPacks,
  listPublishers,
  type OwnPack,
  verifyPublisher,
} from "../../../../share/packs/packs.ts";
import { badge } from "../../ui/badge.ts";
import { confirmButton } from "../../ui/confirm.ts";
import { empty } from "../../ui/empty.ts";
import { field } from "../../ui/field.ts";
import { filters } from "../../ui/filters.ts";
import { form } from "../../ui/form.ts";
import { pageHead } from "../../ui/page-head.ts";
import { pager } from "../../ui/pager.ts";
import { section } from "../../ui/section.ts";
import { table } from "../../ui/table.ts";
import { ago } from "../../ui/time.ts";
import { bytes } from "../../ui/units.ts";
import { frame } from "../frame.ts";
import { stateBadges, whyTable } from "./labels.ts";

/** What the people who run the installation decide about everybody's packs. */

type ByOperator = PageCall<"operator">;

const PATH = "/curate";
const PAGE = 50;

function listPage(call: ByOperator): Html {
  const { core, query, href } = call;
  const now = core.clock.now();
  const q = (query.get("q") ?? "").slice(0, 200);
  const after = (query.get("after") ?? "").slice(0, 100);
  const { rows, next } = listAllPacks(core, q, PAGE, after);
  const address = (more?: string) => {
    const search = new URLSearchParams({ ...(q ? { q } : {}), ...(more === undefined ? {} : { after: more }) });
    return href(search.size > 0 ? `${PATH}?${search}` : PATH);
  };
  const main = html`${pageHead({
    title: "Marketplace",
    says: html`Every team’s packs. Feature what is good, remove what is not. <a href="${href("/marketplace")}">See it as everybody does</a>.`,
  })}
${filters({
  action: href(PATH),
  label: "Find packs",
  filters: [{ kind: "search", name: "q", label: "Name, title or publisher", value: q }],
  live: "#packs",
})}
<div id="packs" data-count="${rows.length}">${table({
    caption: "Packs",
    columns: [
      { label: "Pack", heading: true, grow: true },
      { label: "State" },
      { label: "Publisher" },
      { label: "Installs", numeric: true },
      { label: "Rank", numeric: true },
      { label: "Published" },
    ],
    rows: rows.map((one) => [
      html`<a href="${href(`${PATH}/${one.name}`)}">${one.title}</a><br><small><code>${one.name}</code> ${one.version}</small>`,
      stateBadges(one),
      html`${one.publisher.name}${one.publisher.verified && html` ${badge("good", "verified")}`}`,
      one.installs,
      one.rank,
      ago(one.publishedAt, now),
    ]),
    empty: q
      ? empty({ title: "Nothing like that", says: "No pack matches. Search for other words." })
      : empty({
          title: "No packs yet",
          says: "Teams publish them on their Packs page, or from a terminal:",
          code: "reckon pack publish --help",
        }),
  })}
${pager({
  labels: { newer: "Previous", older: "Next" },
  ...(after === "" ? {} : { first: address() }),
  ...(next === undefined ? {} : { older: address(next) }),
})}</div>
${publishersSection(call)}`;
  return frame(call, { title: "Marketplace", main, wide: true });
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
        { label: "Team", heading: true, grow: true },
        { label: "Packs", numeric: true },
        { label: "Verified" },
        { label: "Decide", hidden: true },
      ],
      rows: listPublishers(core).map((one) => [
        one.name,
        one.packs,
        one.verifiedAt === null ? badge("neutral", "no") : html`${badge("good", "yes")} ${ago(one.verifiedAt, now)}`,
        confirmButton({
          action: href(`${PATH}/publishers/${one.id}`),
          csrf,
          hidden: { verified: one.verifiedAt === null ? "true" : "false" },
          label: one.verifiedAt === null ? "Verify" : "Take back",
          question:
            one.verifiedAt === null
              ? `Do you know that “${one.name}” is who it says it is?`
              : `Is “${one.name}” verified no longer?`,
          confirm: one.verifiedAt === null ? "Verify the team" : "Take it back",
          look: "plain",
          small: true,
        }),
      ]),
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
  page({ id: "curate", method: "GET", path: PATH, access }, listPage),
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
