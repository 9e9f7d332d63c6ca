import { etagMatches } from "../../../../kit/etag.ts";
import { fail, gone, notFound, type ProblemRow } from "../../../../kit/problem.ts";
import { type PageCall, type PageReply, page } from "../../../../platform/http/page.ts";
import { downloadPack, whyNotOffered } from "../../../../share/packs/packs.ts";

/** Handing out packs, to anybody. */

/** The archive may be kept, but is asked about each time: a removed pack is gone at once, and installs are counted. */
const KEEP = "public, no-cache";

function whyNot(core: PageCall["core"], name: string, version: string): [row: ProblemRow, text: string] {
  const why = whyNotOffered(core, name, version);
  if (!why) return [notFound, "There is no such version of a pack."];
  if (why.removedAt !== null) return [gone, `The pack was removed: ${why.reason}`];
  return [gone, `This version is not handed out any more: ${why.reason}.`];
}

/** Installers are programs, which show the text as it is; a page for people who follow a link. */
function refusal(header: PageCall["header"], row: ProblemRow, text: string): PageReply {
  if (/\btext\/html\b/.test(header("accept") ?? "")) fail(row, text);
  return { status: row.status, media: "text/plain; charset=utf-8", headers: [["vary", "Accept"]], body: `${text}\n` };
}

export const packDownload = page(
  {
    id: "packDownload",
    method: "GET",
    path: "/marketplace/packs/:name/:version/download",
    access: "anyone",
    formless: true,
  },
  async ({ core, params, bearer, header, headOnly }) => {
    const { name = "", version = "" } = params;
    const found = downloadPack(core, name, version, bearer);
    if (!found) return refusal(header, ...whyNot(core, name, version));
    const sha256 = found.digest.toString("hex");
    const etag = `"${sha256}"`;
    const headers = [
      ["cache-control", KEEP],
      ["etag", etag],
      ["x-checksum-sha256", sha256],
      // RFC 9530 section 3.
      ["repr-digest", `sha-256=:${found.digest.toString("base64")}:`],
    ] as const;
    if (etagMatches(header("if-none-match"), etag)) return { status: 304, headers };
    if (!headOnly) await found.count();
    return { headers, media: "application/gzip", filename: `${name}-${version}.tar.gz`, body: found.archive };
  },
);
