import { type Content, type Html, html } from "../../../../kit/html.ts";
import { fileVersions, listFiles, listVersions } from "../../../../record/brain/brain.ts";
import { badge, empty, type Kind } from "../../ui/parts.ts";
import { bytes, time } from "../../ui/units.ts";
import { frame } from "../frame.ts";
import type { Member } from "../shared/call.ts";
import { deviceLink, link, repoName, repoOf } from "../shared/links.ts";
import { list } from "../shared/list.ts";
import { fileHead, pathOf } from "./file.ts";
import { noSuchRepository, repositoryHead } from "./repository.ts";
import { gapMeans, rollbackMeans, snapshotBadges } from "./snapshots.ts";

const PAGE = 50;

/** The snapshots of a repository, newest first. */
export function versionsPage(call: Member): Html {
  const repo = repoOf(call);
  const { core, session, query } = call;
  const page = listVersions(core, session.team.id, repo, { cursor: query.get("cursor") ?? "", limit: PAGE });
  const current = listFiles(core, session.team.id, repo)?.snapshot.snapshotId;
  if (page.rows.length === 0 && current === undefined) throw noSuchRepository();
  const now = core.clock.now();
  const main = html`${repositoryHead(call, repo, "versions")}
<p class="says">A device sends a snapshot of its brain files whenever they change. The newest accepted one of any device is current.</p>
${list(call, {
  path: "/brain/versions",
  kept: { repo },
  table: {
    caption: "Versions",
    columns: [
      {
        label: "Version",
        heading: true,
        cell: (version) => html`${version.version} ${snapshotBadges(version, version.snapshotId === current)}`,
      },
      { label: "Received", cell: (version) => time(version.receivedAt, now) },
      { label: "Device", cell: (version) => deviceLink(call, version) },
      {
        label: "Changes",
        cell: (version) =>
          html`${changeCounts(version)}${version.redactionHits > 0 && html` ${badge("warn", `${version.redactionHits} redacted`)}`}`,
      },
      { label: "Files", numeric: true, cell: (version) => version.files },
      { label: "Size", numeric: true, cell: (version) => bytes(version.bytes) },
      {
        label: "Actions",
        hidden: true,
        cell: (version) =>
          html`<span class="nowrap"><a href="${link(call, "/brain/repository", { repo, snapshot: version.snapshotId })}">Files</a> · <a href="${link(call, "/brain/changes", { repo, from: version.previousId ?? "none", to: version.snapshotId })}">Changes</a> · <a href="${call.href(`/brain/snapshots/${version.snapshotId}/proof`)}">Proof</a></span>`,
      },
    ],
    rows: page.rows,
    empty: empty({ title: "No versions here", intro: "Go back to the newest." }),
  },
  pages: { older: { cursor: page.older }, newer: { cursor: page.newer } },
})}
${meanings(page.rows)}`;
  return frame(call, { title: `Versions of ${repoName(repo)}`, main });
}

type Version = ReturnType<typeof listVersions>["rows"][number];

/** What the marks on a page mean. */
function meanings(rows: readonly Pick<Version, "gap" | "accepted" | "redactionHits">[]): Html {
  return html`${rows.some(({ gap }) => gap === 1) && html`<p class="says">${gapMeans()}</p>`}${rows.some(({ accepted }) => accepted === 0) && html`<p class="says">${rollbackMeans()}</p>`}${rows.some(({ redactionHits }) => redactionHits > 0) && html`<p class="says">${badge("warn", "redacted")} Places that looked like a password or a key were replaced before the snapshot was stored.</p>`}`;
}

/** How many files differ from the version before. */
function changeCounts({ added, changed, removed }: Pick<Version, "added" | "changed" | "removed">): Content {
  const parts = [
    added > 0 && html`<span class="nowrap">${added} added</span>`,
    changed > 0 && html`<span class="nowrap">${changed} changed</span>`,
    removed > 0 && html`<span class="nowrap">${removed} removed</span>`,
  ].filter((part) => part !== false);
  if (parts.length === 0) return html`<span class="muted">nothing</span>`;
  return parts.map((part, i) => html`${i > 0 && ", "}${part}`);
}

const CHANGES: Readonly<Record<"added" | "changed" | "removed", Kind>> = {
  added: "good",
  changed: "info",
  removed: "bad",
};

export const changeBadge = (change: keyof typeof CHANGES): Html => badge(CHANGES[change], change);

/** The versions of one file: the snapshots in which its content changed. */
export function historyPage(call: Member): Html {
  const repo = repoOf(call);
  const path = pathOf(call);
  const { core, session, query } = call;
  const cursor = query.get("cursor") ?? "";
  const page = fileVersions(core, session.team.id, repo, path, { cursor, limit: PAGE });
  if (page.rows.length === 0 && page.older === undefined && cursor === "") throw noSuchRepository();
  const now = core.clock.now();
  const main = html`${fileHead(call, { repo, path }, "history")}
${list(call, {
  path: "/brain/history",
  kept: { repo, path },
  table: {
    caption: "Versions in which this file changed",
    columns: [
      {
        label: "Version",
        heading: true,
        cell: (version) => html`${version.version} ${version.gap === 1 && badge("warn", "gap")}`,
      },
      { label: "Change", cell: (version) => changeBadge(version.change) },
      { label: "Received", cell: (version) => time(version.receivedAt, now) },
      { label: "Device", cell: (version) => deviceLink(call, version) },
      {
        label: "Size",
        numeric: true,
        cell: (version) => (version.fileBytes === null ? "–" : bytes(version.fileBytes)),
      },
      {
        label: "Actions",
        hidden: true,
        cell: (version) =>
          html`<span class="nowrap">${version.change !== "removed" && html`<a href="${link(call, "/brain/file", { repo, path, snapshot: version.snapshotId })}">File</a> · `}<a href="${link(call, "/brain/changes", { repo, path, from: version.previousId ?? "none", to: version.snapshotId })}">Changes</a></span>`,
      },
    ],
    rows: page.rows,
    empty: empty({ title: "No change here", intro: "Many versions left this file alone. Look further back." }),
  },
  pages: { older: { cursor: page.older }, first: cursor !== "" },
})}`;
  return frame(call, { title: `History of ${path}`, main });
}
