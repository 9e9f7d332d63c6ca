import { downloadPack, whyRemoved } from "../../catalog/catalog.ts";
import { page } from "../../http/page.ts";
import { Complaint } from "../../kit/complaint.ts";
import { etagMatches } from "../../kit/etag.ts";

/** Handing out packs, to anybody. */

/** The archive may be kept, but is asked about each time: a removed pack is gone at once, and installs are counted. */
const KEEP = "public, no-cache";

const bearerOf = (header: string | null) => /^Bearer +(\S+)$/i.exec(header ?? "")?.[1];

export const packDownload = page(
  {
    id: "packDownload",
    method: "GET",
    path: "/marketplace/packs/:name/:version/download",
    access: "anyone",
    formless: true,
  },
  async ({ core, params, header, headOnly }) => {
    const { name = "", version = "" } = params;
    const found = downloadPack(core, name, version, bearerOf(header("authorization")));
    if (!found) {
      const removed = whyRemoved(core, name);
      if (removed) throw new Complaint(`The pack was removed: ${removed.reason}`, 410);
      throw new Complaint("There is no such version of a pack.", 404);
    }
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
