import { visible } from "../../../kit/escape-invisible.ts";
import { type Html, html, trustedHtml } from "../../../kit/html.ts";
import { renderMarkdown } from "../../../kit/markdown-html.ts";
import { fail, gone, notFound } from "../../../kit/problem.ts";
import {
  archivePath,
  getPack,
  installCommand,
  installFolder,
  type Pack,
  whyNotOffered,
} from "../../../share/packs/packs.ts";
import { table } from "../ui/list.ts";
import { codeBlock, facts } from "../ui/parts.ts";
import { bytes, dayOf, number, plural } from "../ui/units.ts";
import type { Visit } from "./frame.ts";
import { bullets, escapeMarkdown, fence, markdownTable } from "./markdown.ts";
import { standing, tagPath } from "./pack-cards.ts";
import { publicPage } from "./rendition.ts";

/** One pack: what it holds, how far to trust it and why, how to install it. All of its text is other people's. */

/** Files of a pack that are listed, at most. */
const MAX_FILES = 100;
const MAX_VERSIONS = 50;

const WARNING =
  "Read what the pack holds before an agent works from it: its text is the publisher's, not this installation's.";

function found(call: Visit): Pack {
  const name = call.params.name ?? "";
  const pack = getPack(call.core, name);
  if (pack) return pack;
  const why = whyNotOffered(call.core, name);
  if (!why) fail(notFound, "There is no pack of that name.");
  if (why.removedAt === null) fail(gone, `This pack is not offered any more: ${why.reason}.`);
  fail(gone, `This pack was removed on ${dayOf(why.removedAt)}: ${why.reason}`);
}

function packHtml(call: Visit, pack: Pack): Html {
  const { href, baseUrl } = call;
  const { name, version, rank, why, contents, versions, tags } = pack;
  return html`<nav aria-label="Breadcrumbs" class="crumbs"><ol><li><a href="${href("/marketplace")}">Marketplace</a></li><li><span aria-current="page">${name}</span></li></ol></nav>
<div class="lead"><h1>${pack.title}</h1><p class="says">${pack.summary}</p>
<p class="pack-by">By ${pack.publisher.name} ${standing(pack)}</p></div>
<div class="pack-page"><div class="pack-main">
<section><h2>Install</h2><p class="says">Run it in your repository. The files go to <code>${installFolder(name)}</code>. Nothing is unpacked unless the SHA-256 fits, and nothing of yours is overwritten.</p>
<p class="says"><strong>${WARNING}</strong></p>
${codeBlock(installCommand(baseUrl, pack), { label: "Install command", wrap: true })}</section>
${
  pack.readme.trim() !== "" &&
  // renderMarkdown lets no HTML of the text through.
  html`<section><h2>What it says of itself</h2><div class="card prose">${trustedHtml(renderMarkdown(pack.readme))}</div></section>`
}
<section><h2>Files</h2>${table({
    caption: "Files of the version to install",
    columns: [
      { label: "Path", heading: true, grow: true, cell: (file) => html`<code>${visible(file.path)}</code>` },
      { label: "Size", numeric: true, cell: (file) => bytes(file.bytes) },
    ],
    rows: contents.slice(0, MAX_FILES),
  })}${contents.length > MAX_FILES && html`<p class="says">And ${number(contents.length - MAX_FILES)} more.</p>`}</section>
<section><h2>Versions</h2>${table({
    caption: "Versions",
    columns: [
      { label: "Version", heading: true, cell: (version) => version.version },
      { label: "Published", cell: (version) => dayOf(version.publishedAt) },
      { label: "Files", numeric: true, cell: (version) => version.files },
      { label: "Archive", numeric: true, cell: (version) => bytes(version.bytes) },
      {
        label: "Download",
        hidden: true,
        cell: (version) =>
          version.withheld === null
            ? html`<a href="${href(archivePath(name, version.version))}">Download<span class="vh"> ${version.version}</span></a>`
            : "not handed out",
      },
    ],
    rows: versions.slice(0, MAX_VERSIONS),
  })}</section></div>
<aside class="pack-side" aria-label="Facts"><section class="card"><h2>Trust <span class="rank">${rank}</span></h2>
<ul class="why">${why.map(
    (one) =>
      html`<li><div><span>${one.factor.replaceAll("_", " ")}</span><span>${one.points} of ${one.most}</span></div><meter min="0" max="${one.most}" value="${one.points}" aria-label="${one.factor.replaceAll("_", " ")}">${one.points} of ${one.most}</meter><p>${one.says}</p></li>`,
  )}</ul><p class="hint"><a href="${href("/docs/marketplace")}">How trust is ranked</a></p></section>
<section class="card"><h2>Facts</h2>${facts([
    { label: "Version", value: version },
    { label: "Published", value: dayOf(pack.publishedAt) },
    { label: "First", value: dayOf(pack.createdAt) },
    { label: "Licence", value: pack.license },
    { label: "Rules", value: number(pack.rules) },
    { label: "Installs", value: plural(pack.installs, "machine") },
    { label: "SHA-256", value: html`<code>${pack.sha256}</code>` },
    {
      label: "Tags",
      value:
        tags.length > 0 &&
        html`<ul class="tags">${tags.map((tag) => html`<li><a href="${href(tagPath(tag))}">${tag}</a></li>`)}</ul>`,
    },
  ])}</section></aside></div>`;
}

function packMarkdown({ baseUrl }: Visit, pack: Pack): string {
  const { name, version, rank, why, contents, versions } = pack;
  const text = escapeMarkdown;
  return [
    `# ${text(pack.title)}`,
    text(pack.summary),
    bullets([
      `Publisher: ${text(pack.publisher.name)} (${pack.publisher.verified ? "verified" : "not verified"})`,
      `Version: ${text(version)}, published ${dayOf(pack.publishedAt)}`,
      `Licence: ${text(pack.license)}`,
      `Trust: ${rank} of 100`,
      `Installs: ${plural(pack.installs, "machine")}`,
      `Prevention rules: ${number(pack.rules)}`,
      `Archive: ${baseUrl}${archivePath(name, version)}`,
      `SHA-256: \`${pack.sha256}\``,
      ...(pack.tags.length > 0 ? [`Tags: ${pack.tags.map(text).join(", ")}`] : []),
    ]),
    "## Install",
    WARNING,
    fence(installCommand(baseUrl, pack), "sh"),
    "## Why it is trusted so far",
    bullets(why.map((one) => `${one.factor.replaceAll("_", " ")}: ${one.points} of ${one.most}. ${text(one.says)}`)),
    "## Files",
    markdownTable(
      ["Path", "Bytes", "SHA-256"],
      contents
        .slice(0, MAX_FILES)
        .map((content) => [text(visible(content.path)), String(content.bytes), `\`${content.sha256}\``]),
    ),
    ...(contents.length > MAX_FILES ? [`And ${number(contents.length - MAX_FILES)} more.`] : []),
    "## Versions",
    markdownTable(
      ["Version", "Published", "Files", "Bytes", "Archive"],
      versions
        .slice(0, MAX_VERSIONS)
        .map((one) => [
          text(one.version),
          dayOf(one.publishedAt),
          String(one.files),
          String(one.bytes),
          one.withheld === null ? `${baseUrl}${archivePath(name, one.version)}` : "not handed out",
        ]),
    ),
    // Fenced, so that it cannot pass for what this page says.
    ...(pack.readme.trim() === "" ? [] : ["## README, in the publisher's words", fence(pack.readme, "markdown")]),
  ].join("\n\n");
}

export const packPages = publicPage({ id: "pack", path: "/marketplace/:name", maxAge: 60 }, (call) => {
  const pack = found(call);
  return {
    title: pack.title,
    summary: pack.summary,
    look: "plain",
    html: () => packHtml(call, pack),
    markdown: () => packMarkdown(call, pack),
  };
});
