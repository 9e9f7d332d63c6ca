import * as v from "valibot";
import { visible } from "../../../../kit/escape-invisible.ts";
import { type Html, html, trustedHtml } from "../../../../kit/html.ts";
import { renderMarkdown } from "../../../../kit/markdown-html.ts";
import type { PageCall } from "../../../../platform/http/page.ts";
import { installCommand, installFolder, type OwnPack, type Pack } from "../../../../share/packs/packs.ts";
import { buttonLink } from "../../ui/button.ts";
import { formSpec, trimmed } from "../../ui/form-spec.ts";
import { table } from "../../ui/list.ts";
import { badge, codeBlock, facts, pageHead, prose, section } from "../../ui/parts.ts";
import { ago, bytes, number, plural, time } from "../../ui/units.ts";
import { frame } from "../frame.ts";
import { stateBadges, tagList, whyTable } from "./labels.ts";

const NO_REASON = "Withdrawn by its publisher.";

export const WITHDRAWAL = formSpec({
  reason: {
    kind: "text",
    label: "Why",
    hint: "Told to everybody who looks for it.",
    maxLength: 300,
    placeholder: NO_REASON,
    schema: v.pipe(
      trimmed,
      v.transform((reason) => reason || NO_REASON),
    ),
  },
});

type Call = PageCall<"member" | "admin">;

/** One of the team's packs. */
export function onePack(call: Call, pack: OwnPack<Pack>, admin: boolean): Html {
  const now = call.core.clock.now();
  const main = html`${head(call, pack, admin, now)}
${about(pack, now)}
${!pack.removed && pack.withheld === null && install(call, pack)}
${section({
  title: html`Rank: ${pack.rank}`,
  intro: "How far others can trust the pack, from facts alone. The marketplace is ordered by it.",
  body: whyTable(pack.why, pack.rank),
})}
${files(pack)}
${section({
  title: "README",
  framed: true,
  // Safe: renderMarkdown lets no HTML of the text through.
  body: prose(trustedHtml(renderMarkdown(pack.readme))),
})}
${versions(pack, now)}
${admin && !pack.removed && withdrawal(call, pack)}`;
  return frame(call, { title: pack.title, main });
}

function head({ href }: Call, pack: OwnPack<Pack>, admin: boolean, now: number): Html {
  const next = `/packs/new?${new URLSearchParams({ name: pack.name })}`;
  return html`${pageHead({
    title: pack.title,
    intro: pack.summary,
    crumbs: [{ label: "Packs", href: href("/packs") }, { label: pack.name }],
    actions:
      !pack.removed &&
      html`${pack.withheld === null && buttonLink("Public page", href(`/marketplace/${pack.name}`))}
${admin && buttonLink("Publish a new version", href(next), { look: "primary" })}`,
  })}
${pack.removed && html`<div class="flash warn" role="status">Removed ${ago(pack.removed.at, now)}: ${pack.removed.reason} Nobody finds or installs it; who runs the installation can bring it back.</div>`}
${!pack.removed && pack.withheld !== null && html`<div class="flash warn" role="status">It is not handed out: ${pack.withheld}. Publish a version without it.</div>`}`;
}

const about = (pack: OwnPack<Pack>, now: number): Html =>
  section({
    title: "About",
    framed: true,
    body: facts([
      { label: "Name", value: html`<code>${pack.name}</code>` },
      { label: "State", value: stateBadges(pack) },
      { label: "Version", value: html`${pack.version}, ${time(pack.publishedAt, now)}` },
      {
        label: "Publisher",
        value: html`${pack.publisher.name} ${pack.publisher.verified ? badge("good", "verified") : badge("neutral", "not verified")}`,
      },
      { label: "Licence", value: pack.license },
      { label: "Tags", value: pack.tags.length > 0 && tagList(pack.tags) },
      { label: "Prevention rules", value: number(pack.rules) },
      { label: "Installs", value: plural(pack.installs, "device") },
      { label: "SHA-256", value: html`<code>${pack.sha256}</code>` },
    ]),
  });

const install = ({ baseUrl }: Call, pack: OwnPack<Pack>): Html =>
  section({
    title: "Install",
    intro: html`In a repository. It puts the files into <code>${installFolder(pack.name)}</code>, checks the SHA-256 before anything is unpacked, and stops when the folder is there already. With <code>RECKON_DEVICE_TOKEN</code> set, the device counts as an install.`,
    body: codeBlock(installCommand(baseUrl, pack), { label: "Install command", wrap: true }),
  });

const files = (pack: OwnPack<Pack>): Html =>
  section({
    title: "Files",
    body: table({
      caption: "Files of the version to install",
      columns: [
        { label: "Path", heading: true, grow: true, cell: (file) => html`<code>${visible(file.path)}</code>` },
        { label: "Size", numeric: true, cell: (file) => bytes(file.bytes) },
      ],
      rows: pack.contents,
    }),
  });

const versions = (pack: OwnPack<Pack>, now: number): Html =>
  section({
    title: "Versions",
    body: table({
      caption: "Versions",
      columns: [
        {
          label: "Version",
          heading: true,
          cell: (version) =>
            version.withheld === null ? version.version : html`${version.version} ${badge("bad", "not handed out")}`,
        },
        { label: "Files", numeric: true, cell: (version) => version.files },
        { label: "Rules", numeric: true, cell: (version) => version.rules },
        { label: "Archive", numeric: true, cell: (version) => bytes(version.bytes) },
        { label: "Published", cell: (version) => time(version.publishedAt, now) },
      ],
      rows: pack.versions,
    }),
  });

const withdrawal = (call: Call, pack: OwnPack<Pack>): Html =>
  section({
    title: "Withdraw",
    intro: "Takes the pack off the marketplace and stops its downloads at once. What others installed stays with them.",
    framed: true,
    body: WITHDRAWAL.draw(call, {
      action: `/packs/${pack.name}/withdraw`,
      submit: "Withdraw the pack",
      danger: true,
      confirm: html`Withdraw “${pack.title}”? Its name stays taken, and only who runs the installation can bring it back.`,
    }),
  });
