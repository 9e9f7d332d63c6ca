import { STATUS_CODES } from "node:http";
import { constants, gzipSync } from "node:zlib";
import { FastResponse } from "srvx";
import type { Core } from "../../core.ts";
import { Html } from "../../kit/html.ts";
import { type CookieNames, setCookie } from "./cookies.ts";
import type { Flash, PageReply } from "./page.ts";
import { bodyOf, COMMON, type HeaderList } from "./render.ts";

const FORM_COOKIE_SECONDS = 24 * 60 * 60;
const FLASH_SECONDS = 60;

/** Nothing but what this site serves itself; no inline script or style, so that text taken for markup stays harmless. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'; " +
  "form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

const SECURITY: HeaderList = [
  ["content-security-policy", POLICY],
  ["x-frame-options", "DENY"],
  ["referrer-policy", "same-origin"],
  ["cross-origin-opener-policy", "same-origin"],
  ["cross-origin-resource-policy", "same-origin"],
  ["permissions-policy", "camera=(), geolocation=(), microphone=()"],
];

/** The parts of a request that its reply depends on. */
export interface Visit {
  readonly names: CookieNames;
  readonly cookies: ReadonlyMap<string, string>;
  readonly token: string | undefined;
  /** Whether the token is anybody's. */
  readonly isSignedIn: boolean;
  /** The secret of this browser's forms, and whether it is new. */
  readonly secret: string;
  readonly isNewSecret: boolean;
  /** Only the head of the reply is wanted. */
  readonly headOnly: boolean;
  /** Whoever asks takes gzip. */
  readonly takesGzip: boolean;
  /** The page has forms, which need the browser's secret as a cookie. */
  readonly hasForms: boolean;
}

/** What the last page left to say, as its cookie holds it. */
export function readFlash(cookie: string | undefined): Flash | undefined {
  const match = /^(done|warn|wrong)\.([\w-]{1,2000})$/.exec(cookie ?? "");
  return match
    ? { kind: match[1] as Flash["kind"], text: Buffer.from(match[2] as string, "base64url").toString("utf8") }
    : undefined;
}

const writeFlash = ({ kind, text }: Flash) => `${kind}.${Buffer.from(text.slice(0, 500)).toString("base64url")}`;

/** The response that a page's reply becomes, with its cookies and the headers that keep pages safe. */
export function sendPage(
  core: Core,
  reply: PageReply,
  visit: Visit,
  { subPath, sessionSeconds }: { readonly subPath: string; readonly sessionSeconds: number },
): Response {
  const status = reply.location === undefined ? (reply.status ?? 200) : 303;
  const headers: HeaderList = [...COMMON, ...SECURITY];
  const own = reply.headers ?? [];
  if (!own.some(([name]) => name === "cache-control")) headers.push(["cache-control", "no-store"]);
  for (const [name, value] of own) headers.push([name, value]);
  headers.push(...cookiesOf(reply, visit, sessionSeconds));
  if (reply.location !== undefined) headers.push(["location", subPath + inAscii(reply.location)]);
  if (reply.filename !== undefined)
    headers.push(["content-disposition", `attachment; filename="${reply.filename.replace(/[^\w.-]/g, "_")}"`]);
  if (status === 503) headers.push(["retry-after", "5"]);
  if (status === 429 && !own.some(([name]) => name === "retry-after")) headers.push(["retry-after", "60"]);
  const init = { status, statusText: STATUS_CODES[status] ?? "", headers };
  if (reply.body === undefined) return new FastResponse(null, init);
  headers.push(["content-type", reply.media ?? "text/html; charset=utf-8"]);
  const whole = reply.body instanceof Html ? packed(reply.body.toString(), visit, headers) : reply.body;
  if (!visit.headOnly) return new FastResponse(bodyOf(whole, core), init);
  // A streamed body is not begun for HEAD.
  if (typeof whole === "string" || whole instanceof Uint8Array)
    headers.push(["content-length", String(Buffer.byteLength(whole))]);
  return new FastResponse(null, init);
}

/** An address as a header can have it: what was sent as part of another may have stood there encoded. */
const inAscii = (address: string) => address.toWellFormed().replace(/[^!-~]+/g, encodeURIComponent);

/** A page that is smaller fits into the first packets as it is. */
const MIN_PACKED_CHARS = 1_400;

/**
 * A page of the dashboard in gzip (RFC 9110 section 8.4.1.3): a list packs to a sixth, in a millisecond or two. Public pages are small,
 * and caches keep them as they are.
 */
function packed(page: string, { isSignedIn, takesGzip }: Visit, headers: HeaderList): string | Buffer {
  if (!isSignedIn) return page;
  headers.push(["vary", "Accept-Encoding"]);
  if (!takesGzip || page.length < MIN_PACKED_CHARS) return page;
  headers.push(["content-encoding", "gzip"]);
  return gzipSync(page, { level: constants.Z_BEST_SPEED });
}

function cookiesOf(reply: PageReply, visit: Visit, sessionSeconds: number): HeaderList {
  const { names } = visit;
  const headers: HeaderList = [];
  const isHtml = reply.body instanceof Html;
  const isSeen = isHtml || reply.location !== undefined;
  const cookie = (name: string, value: string, seconds: number) =>
    headers.push(["set-cookie", setCookie(name, value, names.secure, seconds)]);
  if (typeof reply.session === "string") cookie(names.session, reply.session, sessionSeconds);
  // A cookie without a session would be sent with every request for weeks, so it is removed. Only pages and redirects remove it: a shared
  // cache that keeps a file with its headers would sign others out.
  else if (reply.session === null || (isSeen && visit.token !== undefined && !visit.isSignedIn))
    cookie(names.session, "", 0);
  if (visit.isNewSecret && visit.hasForms && isHtml) cookie(names.form, visit.secret, FORM_COOKIE_SECONDS);
  if (reply.flash) cookie(names.flash, writeFlash(reply.flash), FLASH_SECONDS);
  else if (isHtml && visit.cookies.has(names.flash)) cookie(names.flash, "", 0);
  return headers;
}
