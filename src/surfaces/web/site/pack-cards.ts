import { type Html, html } from "../../../kit/html.ts";
import { archivePath, type PackEntry } from "../../../share/packs/packs.ts";
import { badge, tabs } from "../ui/parts.ts";
import { plural } from "../ui/units.ts";
import type { Visit } from "./frame.ts";
import { escapeMarkdown } from "./markdown.ts";
import { twinOf } from "./rendition.ts";

/** How packs look in lists. Titles, summaries and names of publishers are other people's text. */

/** Where the packs of one tag are listed. */
export const tagPath = (tag: string): string => `/marketplace?${new URLSearchParams({ tag })}`;

/** Verified or featured, in words. */
export const standing = ({ publisher, featured }: PackEntry): Html =>
  html`${publisher.verified && badge("good", "verified")}${featured && html` ${badge("info", "featured")}`}`;

/** Cards of packs, the order kept. */
export function packCards(call: Visit, packs: readonly PackEntry[]): Html {
  return html`<ul class="packs">${packs.map((one) => card(call, one))}</ul>`;
}

function card({ href }: Visit, one: PackEntry): Html {
  const { name, title, summary, publisher, rank, installs, rules, tags, version } = one;
  return html`<li><div class="pack-head"><h3><a href="${href(`/marketplace/${name}`)}">${title}</a></h3><span class="rank" title="Trust, 0 to 100"><span class="vh">Trust </span>${rank}</span></div>
<p class="pack-by">${publisher.name} ${standing(one)}</p>
<p class="pack-says">${summary}</p>
<p class="pack-facts">${version} · ${plural(rules, "rule")} · ${plural(installs, "install")}</p>
${tags.length > 0 && html`<ul class="tags" aria-label="Tags">${tags.slice(0, 4).map((tag) => html`<li><a href="${href(tagPath(tag))}">${tag}</a></li>`)}</ul>`}</li>`;
}

/** A pack as one line of a markdown list. */
export function packLine(call: Visit, one: PackEntry): string {
  const { name, title, summary, publisher, rank, installs, version, tags } = one;
  const by = `${escapeMarkdown(publisher.name)}${publisher.verified ? " (verified)" : ""}`;
  const facts = [
    `trust ${rank}`,
    `version ${escapeMarkdown(version)}`,
    plural(installs, "install"),
    ...(tags.length > 0 ? [`tags: ${tags.map(escapeMarkdown).join(", ")}`] : []),
  ];
  return `[${escapeMarkdown(title)}](${call.baseUrl}${twinOf(`/marketplace/${name}`)}) by ${by}: ${escapeMarkdown(summary)} (${facts.join("; ")}) [archive](${call.baseUrl}${archivePath(name, version)})`;
}

/** The two ways of looking at the packs. */
export const packTabs = ({ href, path }: Visit): Html =>
  tabs("Marketplace", [
    { label: "All packs", href: href("/marketplace"), current: path === "/marketplace" },
    { label: "Explore", href: href("/explore"), current: path === "/explore" },
  ]);
