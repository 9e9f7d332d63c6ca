import { html } from "../../../../kit/html.ts";
import { page, redirect } from "../../../../platform/http/page.ts";
import { listReleases, type Release, removeRelease } from "../../../../share/releases/releases.ts";
import { confirmButton } from "../../ui/confirm.ts";
import { typed } from "../../ui/form-spec.ts";
import { table } from "../../ui/list.ts";
import { badge, codeBlock, empty, section } from "../../ui/parts.ts";
import { bytes, time } from "../../ui/units.ts";
import { settingsFrame } from "../settings/parts.ts";
import { type ByOperator, by } from "../shared/call.ts";
import { readParams } from "../shared/params.ts";

/** Desktop installers, for who runs the installation: what is registered, and withdrawing it. Adding one takes the server's disk. */

const ADD_FILE = "reckon release add --platform win32 --version 1.4.0 --file Setup.exe";
const ADD_URL = "reckon release add --platform win32 --version 1.4.0 --url https://… --sha512 DIGEST";

function where({ missing, fileName, url }: Release) {
  if (missing)
    return html`${badge("bad", "file missing")} <small>Not offered. Remove it, or put the file back.</small>`;
  return fileName === null
    ? html`<a href="${url}" rel="noopener noreferrer">${url}</a>`
    : html`<code>${fileName}</code> <small>here</small>`;
}

function releasesPage(call: ByOperator) {
  const { core, href } = call;
  const now = core.clock.now();
  const found = listReleases(core);
  const body = html`${table({
    caption: "Installers",
    columns: [
      { label: "Version", heading: true, cell: (release) => release.version },
      { label: "Platform", cell: (release) => release.platform },
      { label: "Where", grow: true, cell: where },
      {
        label: "Size",
        cell: (release) => (release.bytes === null ? "–" : html`<span class="nowrap">${bytes(release.bytes)}</span>`),
      },
      { label: "Registered", cell: (release) => time(release.createdAt, now) },
      {
        label: "Actions",
        hidden: true,
        cell: (release) =>
          confirmButton(call, {
            action: "/settings/releases/remove",
            hidden: { platform: release.platform, version: release.version },
            label: "Withdraw",
            question: `Withdraw ${release.version} for ${release.platform}? It is offered no more${release.fileName === null ? "" : ", and its file is deleted here"}. What people installed stays with them.`,
            confirm: "Withdraw installer",
            small: true,
          }),
      },
    ],
    rows: found,
    empty: empty({
      title: "No installer is registered",
      intro: "The download page and updaters find nothing until one is. Register it on the server:",
      code: ADD_FILE,
    }),
  })}
${
  found.length > 0 &&
  section({
    title: "Register another",
    intro:
      "On the server. A file is copied into the data directory and served from here; with a URL nothing is copied or fetched. Backups hold the list, not the files.",
    body: html`${codeBlock(ADD_FILE, { label: "A file that is served here", titled: true })}
${codeBlock(ADD_URL, { label: "A file that is served elsewhere", titled: true })}`,
  })
}`;
  return settingsFrame(call, {
    title: "Installers",
    intro: html`What <a href="${href("/download")}">the download page</a> and updaters offer. The newest version counts; a pre-release only where there is nothing else.`,
    body,
  });
}

export const releasePages = [
  page({ id: "releases", method: "GET", path: "/settings/releases", access: "operator" }, (call) => releasesPage(call)),
  page({ id: "removeRelease", method: "POST", path: "/settings/releases/remove", access: "operator" }, async (call) => {
    const { platform, version } = readParams({ platform: typed, version: typed }, call.form);
    await removeRelease(call.core, platform, version, by(call));
    return redirect("/settings/releases", `${version} is withdrawn.`);
  }),
];
