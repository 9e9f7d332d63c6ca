import { html } from "../../../../kit/html.ts";
import { fail, notFound } from "../../../../kit/problem.ts";
import { type PageCall, page, redirect } from "../../../../platform/http/page.ts";
import { curatePack, findOwnPack, listTeamPacks } from "../../../../share/packs/packs.ts";
import { buttonLink } from "../../ui/button.ts";
import { table } from "../../ui/list.ts";
import { empty, pageHead } from "../../ui/parts.ts";
import { ago } from "../../ui/units.ts";
import { frame } from "../frame.ts";
import { by, isAdmin } from "../shared/call.ts";
import { packDownload } from "./download.ts";
import { stateBadges } from "./labels.ts";
import { newPackPages } from "./new.ts";
import { onePack, WITHDRAWAL } from "./one.ts";

/** What the team publishes for everybody. */

type Member = PageCall<"member" | "admin">;

function listPage(call: Member) {
  const { core, session, href } = call;
  const now = core.clock.now();
  const packs = listTeamPacks(core, session.team.id);
  const publish = isAdmin(call) && buttonLink("Publish a pack", href("/packs/new"), { look: "primary" });
  const main = html`${pageHead({
    title: "Packs",
    intro: html`What ${session.team.name} publishes of its brain, for every team and for agents. <a href="${href("/marketplace")}">See the marketplace</a>.`,
    actions: packs.length > 0 && publish,
  })}
${table({
  caption: "Packs",
  columns: [
    {
      label: "Pack",
      heading: true,
      grow: true,
      cell: (pack) =>
        html`<a href="${href(`/packs/${pack.name}`)}">${pack.title}</a><br><small><code>${pack.name}</code></small>`,
    },
    { label: "State", cell: stateBadges },
    { label: "Version", cell: (pack) => pack.version },
    { label: "Rules", numeric: true, cell: (pack) => pack.rules },
    { label: "Installs", numeric: true, cell: (pack) => pack.installs },
    { label: "Rank", numeric: true, cell: (pack) => pack.rank },
    { label: "Published", cell: (pack) => ago(pack.publishedAt, now) },
  ],
  rows: packs,
  empty: empty({
    title: "No packs yet",
    intro: isAdmin(call)
      ? "A pack is a choice of your brain’s files: the prevention rules that others would otherwise learn the hard way. Secrets are taken out, and you see every change before it is published. On the server, --dry-run shows it:"
      : "A pack is a choice of a brain’s files, published for everybody. Owners and admins of the team can publish one.",
    ...(isAdmin(call)
      ? {
          code: `reckon pack publish --team "${session.team.name}" --repo REPOSITORY --name my-pack --version 1.0.0 --dry-run`,
          actions: publish,
        }
      : {}),
  }),
})}`;
  return frame(call, { title: "Packs", main });
}

function packIn({ core, session, params }: Member) {
  const found = findOwnPack(core, session.team.id, params.name ?? "");
  if (!found) fail(notFound, "The team has no such pack.");
  return found;
}

export const packPages = [
  packDownload,
  page({ id: "packs", method: "GET", path: "/packs", access: "member" }, listPage),
  ...newPackPages,
  page({ id: "pack", method: "GET", path: "/packs/:name", access: "member" }, (call) =>
    onePack(call, packIn(call), isAdmin(call)),
  ),
  page({ id: "packWithdraw", method: "POST", path: "/packs/:name/withdraw", access: "admin" }, async (call) => {
    const { name } = packIn(call);
    const { reason } = WITHDRAWAL.read(call.form);
    await curatePack(call.core, name, { act: "remove", reason }, by(call), call.session.team.id);
    return redirect(`/packs/${name}`, `${name} is withdrawn: nobody finds or installs it any more.`);
  }),
];
