import type { Diff } from "../../../../kit/diff.ts";
import { type Html, html } from "../../../../kit/html.ts";
import { cooperative } from "../../../../kit/yield.ts";
import {
  diffSnapshotFile,
  diffSnapshots,
  fileVersions,
  listFiles,
  listVersions,
  type SnapshotFacts,
} from "../../../../record/brain/brain.ts";
import { hiddenInputs } from "../../ui/confirm.ts";
import { diff } from "../../ui/diff.ts";
import { type Option, options as optionsOf } from "../../ui/field.ts";
import { table } from "../../ui/list.ts";
import { anchor, empty, section } from "../../ui/parts.ts";
import { bytes, number, utcText } from "../../ui/units.ts";
import { frame } from "../frame.ts";
import type { Member } from "../shared/call.ts";
import { deviceName, kindBadge, link, pathText, repoName, repoOf } from "../shared/links.ts";
import { fileHead } from "./file.ts";
import { noSuchRepository, repositoryHead } from "./repository.ts";
import { gapMeans, rollbackMeans, snapshotIn } from "./snapshots.ts";
import { changeBadge } from "./versions.ts";

type SnapshotDiff = NonNullable<ReturnType<typeof diffSnapshots>>;

/** Versions to choose from; those chosen are always among them. */
const CHOICE = 100;
/** What one page compares line by line; the rest is a click away. */
const MAX_DIFFS = 20;
const MAX_DIFF_MS = 400;
const MAX_DIFF_LINES = 3_000;

/** What differs between two snapshots of a repository, or in one file of them. `from=none` compares with nothing. */
export async function changesPage(call: Member): Promise<Html> {
  const repo = repoOf(call);
  const path = call.query.get("path") ?? undefined;
  const { core, session } = call;
  const team = session.team.id;
  const choice = versionsToChoose(call, repo, path);
  // Of one file its last change is shown, unless the address says since when.
  const last = path !== undefined && fromIn(call) === undefined ? choice[0] : listFiles(core, team, repo)?.snapshot;
  const to = snapshotIn(call, "to") ?? last?.snapshotId;
  if (to === undefined) throw noSuchRepository();
  const from =
    fromIn(call) ?? choice.find(({ snapshotId, accepted }) => accepted === 1 && snapshotId < to)?.snapshotId ?? null;
  const between = diffSnapshots(core, team, repo, from, to);
  if (!between) throw noSuchRepository();
  const head = path === undefined ? repositoryHead(call, repo, "changes") : fileHead(call, { repo, path }, "changes");
  const main = html`${head}
${chooser(call, { repo, path, choice, between })}
${ledgerNotes(between)}
${path === undefined ? await allFiles(call, between) : oneFile(call, between, path)}`;
  return frame(call, { title: `Changes of ${path ?? repoName(repo)}`, main });
}

/** undefined: not said; null: compare with nothing. */
function fromIn(call: Member): number | null | undefined {
  return call.query.get("from") === "none" ? null : snapshotIn(call, "from");
}

function versionsToChoose({ core, session }: Member, repo: string, path: string | undefined): readonly SnapshotFacts[] {
  const options = { limit: CHOICE };
  if (path !== undefined) {
    const { rows } = fileVersions(core, session.team.id, repo, path, options);
    if (rows.length > 0) return rows;
  }
  return listVersions(core, session.team.id, repo, options).rows;
}

interface Chosen {
  readonly repo: string;
  readonly path: string | undefined;
  readonly choice: readonly SnapshotFacts[];
  readonly between: SnapshotDiff;
}

function chooser(call: Member, { repo, path, choice, between }: Chosen): Html {
  const { from, to } = between;
  const all = new Map([...choice, to, ...(from ? [from] : [])].map((version) => [version.snapshotId, version]));
  const options = [...all.values()]
    .sort((a, b) => b.snapshotId - a.snapshotId)
    .map((version) => ({ value: String(version.snapshotId), label: versionText(version) }));
  const select = (name: string, label: string, value: string, list: readonly Option[]) =>
    html`<div class="filter search"><label for="${name}">${label}</label><select id="${name}" name="${name}">${optionsOf(list, value)}</select></div>`;
  const none = { value: "none", label: "nothing: show the whole" };
  return html`<form class="filters" method="get" autocomplete="off" action="${call.href("/brain/changes")}" aria-label="Versions to compare" data-auto>${hiddenInputs({ repo, ...(path === undefined ? {} : { path }) })}
${select("from", "From version", from ? String(from.snapshotId) : "none", [...options, none])}${select("to", "To version", String(to.snapshotId), options)}
<div class="actions"><button type="submit" class="button" data-apply>Compare</button></div></form>`;
}

const versionText = (version: SnapshotFacts) =>
  `${version.version} · ${utcText(version.receivedAt)} · ${deviceName(version)}${version.accepted === 0 ? " · rollback" : ""}`;

function ledgerNotes({ from, to }: SnapshotDiff): Html {
  const marked = [from, to].filter((version) => version !== null);
  return html`${marked.map(
    (version) =>
      html`${version.gap === 1 && html`<p class="says">Version ${version.version}: ${gapMeans()}</p>`}${version.accepted === 0 && html`<p class="says">Version ${version.version}: ${rollbackMeans()}</p>`}`,
  )}`;
}

async function allFiles(call: Member, between: SnapshotDiff): Promise<Html> {
  const { files } = between;
  const list = table({
    caption: "Files that differ",
    columns: [
      {
        label: "File",
        heading: true,
        grow: true,
        cell: (file) => anchor(changeLink(call, between, file.path), pathText(file.path)),
      },
      { label: "Change", cell: (file) => changeBadge(file.change) },
      { label: "Kind", cell: (file) => kindBadge(file.kind) },
      { label: "Before", numeric: true, cell: (file) => (file.oldBytes === null ? "–" : bytes(file.oldBytes)) },
      { label: "After", numeric: true, cell: (file) => (file.newBytes === null ? "–" : bytes(file.newBytes)) },
    ],
    rows: files,
    empty: empty({ title: "No differences", intro: "Both versions hold the same files with the same content." }),
  });
  return html`${list}${files.length > 0 && (await diffsOf(call, between))}`;
}

const changeLink = (call: Member, { from, to }: SnapshotDiff, path: string) =>
  link(call, "/brain/changes", { repo: to.repoKey, path, from: from?.snapshotId ?? "none", to: to.snapshotId });

/** The first files line by line, as far as that is quickly done. */
async function diffsOf(call: Member, between: SnapshotDiff): Promise<Html> {
  const { clock } = call.core;
  const until = clock.monotonic() + MAX_DIFF_MS;
  const yieldNow = cooperative(clock);
  let lines = 0;
  const shown: Html[] = [];
  for (const file of between.files.slice(0, MAX_DIFFS)) {
    await yieldNow();
    if (clock.monotonic() >= until || lines >= MAX_DIFF_LINES) break;
    const found = lineDiff(call, between, file.path);
    lines += linesIn(found);
    if (linesIn(found) > MAX_DIFF_LINES) continue;
    shown.push(section({ title: pathText(file.path), body: drawn(call, between, file, found) }));
  }
  const left = between.files.length - shown.length;
  return html`${shown}${left > 0 && html`<p class="says">${number(left)} more files are not compared on this page. Choose one above.</p>`}`;
}

const linesIn = (found: Diff | undefined) => found?.hunks.reduce((sum, { lines }) => sum + lines.length, 0) ?? 0;

function lineDiff({ core, session }: Member, { from, to }: SnapshotDiff, path: string): Diff | undefined {
  return diffSnapshotFile(core, session.team.id, to.repoKey, from?.snapshotId ?? null, to.snapshotId, path);
}

const MAX_LINES = 20_000;

function drawn(
  call: Member,
  { from, to }: SnapshotDiff,
  { path }: { readonly path: string },
  found: Diff | undefined,
): Html {
  if (!found) return html`<p class="says">Neither version holds this file.</p>`;
  if (found.tooDifferent) {
    const side = (version: SnapshotFacts) =>
      html`<a href="${link(call, "/brain/file", { repo: to.repoKey, path, snapshot: version.snapshotId, view: "source" })}">version ${version.version}</a>`;
    return html`<p class="says">The two texts are too different to show line by line. Read them side by side: ${from && html`${side(from)} and `}${side(to)}.</p>`;
  }
  if (linesIn(found) > MAX_LINES)
    return html`<p class="says">More than ${number(MAX_LINES)} lines differ; too many to show.</p>`;
  return diff(path, found.hunks);
}

function oneFile(call: Member, between: SnapshotDiff, path: string): Html {
  const { repoKey: repo, snapshotId } = between.to;
  const change = between.files.find((file) => file.path === path);
  return html`<p class="muted">${change ? changeBadge(change.change) : "This file is the same in both versions."} <a href="${link(call, "/brain/changes", { repo, from: between.from?.snapshotId ?? "none", to: snapshotId })}">All files that differ (${number(between.files.length)})</a></p>
${drawn(call, between, { path }, lineDiff(call, between, path))}`;
}
