import { readAsset } from "../../../kit/assets.ts";
import { etagMatches } from "../../../kit/etag.ts";
import { sha256Hex } from "../../../kit/hash.ts";
import { fail, notFound } from "../../../kit/problem.ts";
import { type Page, page } from "../../../platform/http/page.ts";

const STYLE = "src/surfaces/web/ui/style.css";
const CSS = "text/css; charset=utf-8";
const SCRIPT = "src/surfaces/web/ui/script.js";
const JS = "text/javascript; charset=utf-8";

/** A file for both kinds of pages, without the parts that it marks as the dashboard's by comments. */
const withoutDashboard = (text: string): string =>
  text.replace(/^ *(?:\/\/|\/\*) <dashboard>[\s\S]*? <\/dashboard>.*\n/gm, "");

const FILES = {
  "style.css": { media: CSS, read: () => readAsset(STYLE) },
  /** The sheet of the public pages: what they share with the dashboard, and what they add. */
  "site.css": {
    media: CSS,
    read: () => withoutDashboard(readAsset(STYLE)) + readAsset("src/surfaces/web/site/site.css"),
  },
  "script.js": { media: JS, read: () => readAsset(SCRIPT) },
  /** The script of the public pages, without what only the dashboard has. */
  "site.js": {
    media: JS,
    read: () => withoutDashboard(readAsset(SCRIPT)),
  },
  /** What only the dashboard does. */
  "dashboard.js": {
    media: JS,
    read: () => readAsset("src/surfaces/web/ui/dashboard.js"),
  },
} as const;

type Name = keyof typeof FILES;

/** Leaves out comments, indentation and, of style sheets, needless space: a third of what a visitor would load. */
function squeeze(text: string, media: string): string {
  // No string of these files spans lines or holds what is replaced here.
  const bare = text
    .replace(/^\s*\/\*[\s\S]*?\*\/\s*$/gm, "")
    .replace(/^\s*\/\/.*$/gm, "")
    .replace(/\n\s*/g, "\n")
    .trimStart();
  if (!media.startsWith("text/css")) return bare;
  return bare
    .replace(/\s*([{};,])\s*/g, "$1")
    .replace(/([{;][\w-]+):\s+/g, "$1:")
    .replace(/;}/g, "}")
    .replace(/(?<=[ :,(-])0\.(?=\d)/g, ".");
}

const read = new Map<Name, { readonly text: string; readonly digest: string }>();

function asset(name: Name) {
  let found = read.get(name);
  if (!found) {
    const text = squeeze(FILES[name].read(), FILES[name].media);
    found = { text, digest: sha256Hex(text).slice(0, 12) };
    read.set(name, found);
  }
  return found;
}

/** Where a file is served: its content is in its name, so that browsers may keep it for ever. */
export const assetPath = (name: Name): `/${string}` => `/assets/${asset(name).digest}/${name}`;

/** The stylesheets and the script. */
export const assets: Page = page(
  { id: "asset", method: "GET", path: "/assets/:digest/:name", access: "anyone" },
  ({ params, header }) => {
    const name = params.name as Name;
    if (!Object.hasOwn(FILES, name)) fail(notFound, "There is nothing at this address.");
    const { text, digest } = asset(name);
    const etag = `"${digest}"`;
    // An old address, as from before an upgrade, gets the present content, which is not to be kept.
    const keep = params.digest === digest ? "public, max-age=31536000, immutable" : "no-cache";
    const headers = [
      ["cache-control", keep],
      ["etag", etag],
    ] as const;
    if (etagMatches(header("if-none-match"), etag)) return { status: 304, headers };
    return { headers, media: FILES[name].media, body: text };
  },
);
