import { type Page, page } from "../http/page.ts";
import { readAsset } from "../kit/assets.ts";
import { Complaint } from "../kit/complaint.ts";
import { etagMatches } from "../kit/etag.ts";
import { sha256Hex } from "../kit/hash.ts";

const MEDIA = {
  "style.css": "text/css; charset=utf-8",
  "script.js": "text/javascript; charset=utf-8",
} as const;

type Name = keyof typeof MEDIA;

const read = new Map<Name, { readonly text: string; readonly digest: string }>();

function asset(name: Name) {
  let found = read.get(name);
  if (!found) {
    const text = readAsset(`src/dashboard/${name}`);
    found = { text, digest: sha256Hex(text).slice(0, 12) };
    read.set(name, found);
  }
  return found;
}

/** Where a file is served: its content is in its name, so that browsers may keep it for ever. */
export const assetPath = (name: Name): `/${string}` => `/assets/${asset(name).digest}/${name}`;

/** The stylesheet and the script. */
export const assets: Page = page(
  { id: "asset", method: "GET", path: "/assets/:digest/:name", access: "anyone" },
  ({ params, header }) => {
    const name = params.name as Name;
    if (!Object.hasOwn(MEDIA, name)) throw new Complaint("There is nothing at this address.", 404);
    const { text, digest } = asset(name);
    const etag = `"${digest}"`;
    // An address from before an upgrade is answered with what there is now, and not kept.
    const keep = params.digest === digest ? "public, max-age=31536000, immutable" : "no-cache";
    const headers = [
      ["cache-control", keep],
      ["etag", etag],
    ] as const;
    if (etagMatches(header("if-none-match"), etag)) return { status: 304, headers };
    return { headers, media: MEDIA[name], body: text };
  },
);
