import { html } from "../../../kit/html.ts";
import { latestRelease, listReleases, type Release } from "../../../share/releases/releases.ts";
import { table } from "../ui/list.ts";
import { codeBlock } from "../ui/parts.ts";
import { bytes, dayOf } from "../ui/units.ts";
import type { Visit } from "./frame.ts";
import { bullets, escapeMarkdown, fence, markdownTable } from "./markdown.ts";
import { publicPage } from "./rendition.ts";

const SUMMARY = "Desktop installers that this installation hands out, with checksums.";
const NONE =
  "Nothing is published here to download. Agents and scripts need nothing: they talk to this server over HTTP.";
const POINTER = "/api/download/latest";

/** Quoted, because zsh takes a question mark for a pattern of file names. */
const pointerCommand = ({ baseUrl }: Visit) => `curl '${baseUrl}${POINTER}?platform=win32'`;

const sizeOf = (one: Release) => (one.bytes === null ? "size not known" : bytes(one.bytes));
const hexOf = (one: Release) => Buffer.from(one.sha512, "base64").toString("hex").toUpperCase();
/** What the browser will call the file; another server may still name it otherwise. */
const nameOf = (one: Release) => one.fileName ?? (new URL(one.url).pathname.split("/").at(-1) || "Setup.exe");

const powershell = (name: string) => `(Get-FileHash -Algorithm SHA512 '.\\${name.replaceAll("'", "''")}').Hash`;

export const downloadPages = publicPage({ id: "download", path: "/download" }, (call) => {
  const latest = latestRelease(call.core, "win32");
  const older = listReleases(call.core).filter((release) => !release.missing && release.version !== latest?.version);
  return {
    title: "Download",
    summary: latest ? SUMMARY : NONE,
    look: "plain",
    html: () => (latest ? offer(call, latest, older) : nothing(call)),
    markdown: () => inMarkdown(call, latest, older),
  };
});

const head = (intro: string) => html`<div class="lead"><h1>Download</h1><p class="says">${intro}</p></div>`;

function offer(call: Visit, latest: Release, older: readonly Release[]) {
  const name = nameOf(latest);
  return html`${head("An installer for Windows, as this installation hands it out. Agents and scripts need none: they talk to this server over HTTP.")}
<section class="card offer"><div><p class="offer-version">Version ${latest.version}</p>
<p class="says">Windows · ${sizeOf(latest)} · registered ${dayOf(latest.createdAt)}</p></div>
<a class="button primary large" href="${latest.url}">Download for Windows</a></section>
<section class="band"><h2>Check what you downloaded</h2>
<p class="says">Compare the two before you run it. In PowerShell, in the folder of the file:</p>
${codeBlock(powershell(name), { label: "Compute the checksum", titled: true })}
${codeBlock(hexOf(latest), { label: "SHA-512 of the file", titled: true, wrap: true })}</section>
${
  older.length > 0 &&
  html`<section class="band"><h2>Other versions</h2>${table({
    caption: "Other versions",
    columns: [
      { label: "Version", heading: true, cell: (release) => release.version },
      { label: "Size", cell: sizeOf },
      { label: "Registered", cell: (release) => dayOf(release.createdAt) },
      { label: "SHA-512 (base64)", grow: true, cell: (release) => html`<code>${release.sha512}</code>` },
      {
        label: "Download",
        hidden: true,
        cell: (release) => html`<a href="${release.url}">Download<span class="vh"> ${release.version}</span></a>`,
      },
    ],
    rows: older,
  })}</section>`
}
${forPrograms(call)}`;
}

function nothing(call: Visit) {
  const register =
    call.session?.operator &&
    html`<div class="empty"><p class="empty-title">You run this installation</p>
<p class="says">Reckon comes without an installer. One of your own, registered on the server, is offered here and to updaters.</p>
${codeBlock("reckon release add --platform win32 --version 1.0.0 --file Setup.exe", { label: "Register an installer" })}</div>`;
  return html`${head(NONE)}
<p class="actions"><a class="button primary" href="${call.href("/docs/using-the-api")}">The API in use</a></p>${register}`;
}

function forPrograms(call: Visit) {
  return html`<section class="band"><h2>For updaters</h2>
<p class="says">One request names the newest version, where it is and its SHA-512 in base64. <a href="${call.href("/docs/api/downloadLatest")}">Reference</a></p>
${codeBlock(pointerCommand(call), { label: "Ask for the newest installer" })}</section>`;
}

function inMarkdown(call: Visit, latest: Release | undefined, older: readonly Release[]): string {
  const facts = latest
    ? [
        bullets([
          `Version: ${latest.version}`,
          `File: <${latest.url}> (${sizeOf(latest)}, registered ${dayOf(latest.createdAt)})`,
          `SHA-512 (base64): \`${latest.sha512}\``,
          `SHA-512 (hexadecimal): \`${hexOf(latest)}\``,
        ]),
      ]
    : [NONE];
  const rows = older.map((one) => [escapeMarkdown(one.version), `<${one.url}>`, `\`${one.sha512}\``]);
  return [
    "# Download",
    ...(latest ? [SUMMARY] : []),
    ...facts,
    ...(rows.length > 0 ? ["## Other versions", markdownTable(["Version", "File", "SHA-512 (base64)"], rows)] : []),
    ...(latest ? ["## For updaters", fence(pointerCommand(call), "sh")] : []),
  ].join("\n\n");
}
