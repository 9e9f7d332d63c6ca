import { type Content, type Html, html } from "../../../../kit/html.ts";
import { fileVersions, listFiles, listVersions } from "../../../../record/brain/brain.ts";
import { badge, type Kind } from "../../ui/badge.ts";
import { empty } from "../../ui/empty.ts";
import { pager } from "../../ui/pager.ts";
import { table } from "../../ui/table.ts";
import { time } from "../../ui/time.ts";
import { bytes } from "../../ui/units.ts";
import { frame } from "../frame.ts";
import {
  deviceLink,
  gapMeans,
  link,
  type Member,
  repoName,
  repoOf,
  rollbackMeans,
  snapshotBadges,
} from "../shared/links.ts";
import { fileHead, pathOf } from "./file.ts";
import { noSuchRepository, repositoryHead } from "./repository.ts";

const PAGE = 50;

/** The snapshots of a repository, newest first. */
export function versionsPage(call: Member): Html {
  const repo = repoOf(call);
  const { core, session, query } = call;
  const page = listVersions(core, session.team.id, repo, { cursor: query.get("cursor") ?? "", limit: PAGE });
  const current = listFiles(core, session.team.id, repo)?.snapshot.snapshotId;
  if (page.rows.length === 0 && current === undefined) throw noSuchRepository();
  const now = core.clock.now();
  const to = (cursor: string | undefined) => cursor && link(call, "/brain/versions", { repo, cursor });
  const main = html`${repositoryHead(call, repo, "versions")}
<p class="says">A device sends a snapshot of its brain files whenever they change. The newest accepted one of any device is current.</p>
${table({
  caption: "Versions",
  columns: [
    { label: "Version", heading: true },
    { label: "Received" },
    { label: "Device" },
    { label: "Changes" },
    { label: "Files", numeric: true },
    { label: "Size", numeric: true },
    { label: "Actions", hidden: true },
  ],
  rows: page.rows.map((one): Content[] => [
    html`${one.version} ${snapshotBadges(one, one.snapshotId === current)}`,
    time(one.receivedAt, now),
    deviceLink(call, one),
    html`${changeCounts(one)}${one.redactionHits > 0 && html` ${badge("warn", `${one.redactionHits} redacted`)}`}`,
    one.files,
    bytes(one.bytes),
    html`<span class="nowrap"><a href="${link(call, "/brain/repository", { repo, snapshot: one.snapshotId })}">Files</a> · <a href="${link(call, "/brain/changes", { repo, from: one.previousId ?? "none", to: one.snapshotId })}">Changes</a></span>`,
  ]),
  empty: empty({ title: "No versions here", says: "Go back to the newest." }),
})}
${pager({ older: to(page.older), newer: to(page.newer) })}
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
  const to = (at: string | undefined) => at && link(call, "/brain/history", { repo, path, cursor: at });
  const main = html`${fileHead(call, { repo, path }, "history")}
${table({
  caption: "Versions in which this file changed",
  columns: [
    { label: "Version", heading: true },
    { label: "Change" },
    { label: "Received" },
    { label: "Device" },
    { label: "Size", numeric: true },
    { label: "Actions", hidden: true },
  ],
  rows: page.rows.map((one): Content[] => [
    html`${one.version} ${one.gap === 1 && badge("warn", "gap")}`,
    changeBadge(one.change),
    time(one.receivedAt, now),
    deviceLink(call, one),
    one.fileBytes === null ? "–" : bytes(one.fileBytes),
    html`<span class="nowrap">${one.change !== "removed" && html`<a href="${link(call, "/brain/file", { repo, path, snapshot: one.snapshotId })}">File</a> · `}<a href="${link(call, "/brain/changes", { repo, path, from: one.previousId ?? "none", to: one.snapshotId })}">Changes</a></span>`,
  ]),
  empty: empty({ title: "No change here", says: "Many versions left this file alone. Look further back." }),
})}
${pager({ older: to(page.older), first: cursor === "" ? undefined : link(call, "/brain/history", { repo, path }) })}`;
  return frame(call, { title: `History of ${path}`, main });
}
