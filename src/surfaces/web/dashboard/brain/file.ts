import { type Html, html } from "../../../../kit/html.ts";
import type { Heading } from "../../../../kit/markdown-html.ts";
import { fail, notFound } from "../../../../kit/problem.ts";
import { download, type PageReply } from "../../../../platform/http/page.ts";
import { type FileContent, readFile } from "../../../../record/brain/brain.ts";
import { buttonLink } from "../../ui/button.ts";
import { pageHead, tabs } from "../../ui/parts.ts";
import { bytes, number, plural, time } from "../../ui/units.ts";
import { frame } from "../frame.ts";
import type { Member } from "../shared/call.ts";
import { exported } from "../shared/exported.ts";
import { deviceLink, kindBadge, link, repoName, repoOf, repoValue } from "../shared/links.ts";
import { idIn } from "../shared/params.ts";
import { entryNotes } from "./entries.ts";
import { outlined } from "./outline.ts";
import { snapshotBadges, snapshotIn } from "./snapshots.ts";
import { sourceView } from "./source.ts";

/** The path that a page is about. */
export const pathOf = (call: Member) => call.query.get("path") ?? "";

function fileOf(call: Member): FileContent {
  const file = readFile(call.core, call.session.team.id, repoOf(call), pathOf(call), snapshotIn(call));
  if (!file)
    fail(
      notFound,
      "This team's brain holds no such file. It may have been removed or renamed: look at the repository's versions.",
    );
  return file;
}

/** The head of every page about one file. @param snapshot the one shown, when it is not the current one */
export function fileHead(
  call: Member,
  { repo, path, snapshot }: { repo: string; path: string; snapshot?: number | undefined },
  at: "rendered" | "source" | "history" | "changes",
): Html {
  const to = { repo, path, snapshot };
  return html`${pageHead({
    title: path,
    crumbs: [
      { label: "Brain", href: call.href("/brain") },
      { label: repoName(repo), href: link(call, "/brain/repository", { repo, snapshot }) },
      { label: path.slice(path.lastIndexOf("/") + 1) },
    ],
    actions:
      (at === "rendered" || at === "source") &&
      buttonLink("Download", link(call, "/brain/download", to), { small: true }),
  })}
${tabs("File", [
  { label: "Rendered", href: link(call, "/brain/file", to), current: at === "rendered" },
  { label: "Source", href: link(call, "/brain/file", { ...to, view: "source" }), current: at === "source" },
  { label: "History", href: link(call, "/brain/history", { repo, path }), current: at === "history" },
  ...(at === "changes"
    ? [{ label: "Changes", href: link(call, "/brain/changes", { repo, path }), current: true }]
    : []),
])}`;
}

/** A file, rendered or as it is written. */
export async function filePage(call: Member): Promise<Html> {
  const file = fileOf(call);
  const { repoKey: repo, snapshotId } = file.snapshot;
  const source = call.query.get("view") === "source";
  const line = idIn(call.query.get("line"));
  const snapshot = file.current ? undefined : snapshotId;
  const main = html`${fileHead(call, { repo, path: file.path, snapshot }, source ? "source" : "rendered")}
${stems(call, file)}
${file.withheldSha256 ? withheldView(call, file.withheldSha256) : source ? sourceView(call, file, snapshot) : renderedView(file, line, await entryNotes(call, file))}`;
  return frame(call, { title: file.path, main });
}

/** Where this content comes from. */
function stems(call: Member, { path, kind, bytes: size, snapshot, current }: FileContent): Html {
  const { repoKey: repo, version, receivedAt, snapshotId } = snapshot;
  const line = html`${bytes(size)} · as of <a href="${link(call, "/brain/repository", { repo, snapshot: snapshotId })}">version ${version}</a> from ${deviceLink(call, snapshot)}, received ${time(receivedAt, call.core.clock.now())}`;
  if (current) return html`<p class="muted">${kindBadge(kind)} ${line}</p>`;
  return html`<div class="flash warn stack"><p>You look at an earlier state of this file. ${line} ${snapshotBadges(snapshot, false)}</p>
<div class="actions">${buttonLink("Show the current file", link(call, "/brain/file", { repo, path }), { small: true })}${buttonLink("What changed since", link(call, "/brain/changes", { repo, path, from: snapshotId }), { small: true })}</div></div>`;
}

function renderedView(
  { path, content }: FileContent,
  line: number | undefined,
  notes: ReadonlyMap<number, Html>,
): Html {
  const { rendered, headings } = outlined(content, line, notes);
  return html`${headings.length > 2 && outlineBox(headings)}
<article class="card" aria-label="${path}"><div class="prose">${rendered}</div></article>`;
}

/** In the place of a text that is not stored. */
const withheldView = (
  call: Member,
  sha256: Buffer,
): Html => html`<div class="flash warn stack"><p>The text of this file is not stored: when it came, the team’s <a href="${call.href("/policy")}">policy</a> let only its path, size and digest be kept.</p>
<p>SHA-256 <code>${sha256.toString("hex")}</code></p></div>`;

const MAX_ENTRIES = 200;

function outlineBox(headings: readonly Heading[]): Html {
  const shown = headings.slice(0, MAX_ENTRIES);
  const top = Math.min(...shown.map(({ level }) => level));
  return html`<details class="numbers"><summary>Contents, ${plural(headings.length, "section")}</summary>
<nav class="prose" aria-label="Contents">${nested(shown, top)}</nav>
${headings.length > shown.length && html`<p class="says">${number(headings.length - shown.length)} more sections are not listed.</p>`}</details>`;
}

/** Headings as lists in lists; each deeper level is a list in the item before it. */
function nested(headings: readonly Heading[], level: number): Html {
  const groups: { head: Heading | undefined; below: Heading[] }[] = [];
  for (const heading of headings) {
    const last = groups.at(-1);
    if (heading.level > level && last) last.below.push(heading);
    else groups.push({ head: heading, below: [] });
  }
  return html`<ul>${groups.map(
    ({ head, below }) =>
      html`<li>${head && html`<a href="#${head.id}">${head.text || "untitled"}</a>`}${below.length > 0 && nested(below, Math.min(...below.map((one) => one.level)))}</li>`,
  )}</ul>`;
}

/** The file's text, byte for byte as it was stored. */
export function downloadPage(call: Member): Promise<PageReply> {
  const { path, content, withheldSha256, snapshot } = fileOf(call);
  if (withheldSha256)
    fail(notFound, "The text of this file is not stored; the policy let only its size and digest be kept.");
  const { repoKey, version, snapshotId } = snapshot;
  return exported(
    call,
    {
      action: "brain_file.exported",
      teamId: call.session.team.id,
      target: { kind: "brain_file", id: String(snapshotId), label: path },
      extent: { repo: repoValue(repoKey), version: String(version) },
    },
    download(path.slice(path.lastIndexOf("/") + 1) || "file.md", "text/markdown; charset=utf-8", content),
  );
}
