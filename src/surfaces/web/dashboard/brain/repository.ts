import type { Kind } from "../../../../formats/brain-kinds.ts";
import { type Html, html } from "../../../../kit/html.ts";
import { notFound, Problem } from "../../../../kit/problem.ts";
import { type FileList, listFiles } from "../../../../record/brain/brain.ts";
import { buttonLink } from "../../ui/button.ts";
import { table } from "../../ui/list.ts";
import { anchor, empty, pageHead, tabs } from "../../ui/parts.ts";
import { ago, bytes, plural, time } from "../../ui/units.ts";
import { frame } from "../frame.ts";
import type { Member } from "../shared/call.ts";
import { deviceLink, kindBadge, kindName, link, pathText, repoName, repoOf } from "../shared/links.ts";
import { list } from "../shared/list.ts";
import { readParams } from "../shared/params.ts";
import { PARAMS, searchFilters, searchResults } from "./search.ts";
import { snapshotBadges, snapshotIn } from "./snapshots.ts";

/** The head of every page about a repository as a whole. */
export function repositoryHead(call: Member, repo: string, at: "files" | "versions" | "changes"): Html {
  return html`${pageHead({
    title: repoName(repo),
    intro: repo === "" ? "Files that came without the name of a repository." : undefined,
    crumbs: [{ label: "Brain", href: call.href("/brain") }, { label: repoName(repo) }],
  })}
${tabs("Repository", [
  { label: "Files", href: link(call, "/brain/repository", { repo }), current: at === "files" },
  { label: "Versions", href: link(call, "/brain/versions", { repo }), current: at === "versions" },
  { label: "Changes", href: link(call, "/brain/changes", { repo }), current: at === "changes" },
])}`;
}

/** What answers a repository or a snapshot that the team does not have. */
export const noSuchRepository = () => new Problem(notFound, "This team's brain holds no such repository or version.");

/** A repository's files as of one snapshot, and the search through the current ones. */
export async function repositoryPage(call: Member): Promise<Html> {
  const repo = repoOf(call);
  const params = readParams(PARAMS, call.query);
  const snapshot = snapshotIn(call);
  const files = listFiles(call.core, call.session.team.id, repo, snapshot);
  if (!files) throw noSuchRepository();
  const body =
    params.q !== "" && files.current ? await searchResults(call, params, repo) : fileTable(call, files, params.kind);
  const main = html`${repositoryHead(call, repo, "files")}
${stems(call, files)}${list(call, {
  path: "/brain/repository",
  kept: { repo },
  id: "results",
  label: "Search the repository",
  filters: files.current && searchFilters(params, "Search this repository"),
  body,
})}`;
  return frame(call, { title: repoName(repo), main });
}

/** From which snapshot the files are. */
function stems(call: Member, { snapshot, current, files }: FileList): Html {
  const { repoKey: repo, version, receivedAt, snapshotId } = snapshot;
  const line = html`Version ${version} from ${deviceLink(call, snapshot)}, received ${time(receivedAt, call.core.clock.now())} · ${plural(files.length, "file")}, ${bytes(snapshot.bytes)}`;
  if (current) return html`<p class="muted">${snapshotBadges(snapshot, true)} ${line}</p>`;
  return html`<div class="flash warn stack"><p>You look at an earlier state. ${line} ${snapshotBadges(snapshot, false)}</p>
<div class="actions">${buttonLink("Show the current files", link(call, "/brain/repository", { repo }), { small: true })}${buttonLink("What changed since", link(call, "/brain/changes", { repo, from: snapshotId }), { small: true })}</div></div>`;
}

function fileTable(call: Member, { snapshot, current, files }: FileList, kind: Kind | undefined): Html {
  const now = call.core.clock.now();
  const at = current ? undefined : snapshot.snapshotId;
  const shown = files.filter((file) => kind === undefined || file.kind === kind);
  return table({
    caption: "Files",
    columns: [
      {
        label: "File",
        heading: true,
        grow: true,
        cell: (file) =>
          anchor(
            link(call, "/brain/file", { repo: snapshot.repoKey, path: file.path, snapshot: at }),
            pathText(file.path),
          ),
      },
      { label: "Kind", cell: (file) => kindBadge(file.kind) },
      { label: "Size", numeric: true, cell: (file) => bytes(file.bytes) },
      { label: "Changed", cell: (file) => html`${file.orEarlier && "before "}${ago(file.changedAt, now)}` },
    ],
    rows: shown,
    empty: empty({
      title: kind === undefined ? "No files" : `No ${kindName(kind)}`,
      intro:
        kind === undefined
          ? "This snapshot is empty: its device keeps no brain files in this repository any more."
          : "No file of this kind is in this snapshot.",
    }),
  });
}
