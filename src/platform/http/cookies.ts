import { sameDigest, sha256 } from "../../kit/hash.ts";
import { systemRandom } from "../../kit/random.ts";

/** Cookies of the dashboard (RFC 6265bis), and the proofs that a form is ours. */

export interface CookieNames {
  readonly session: string;
  /** Ties the forms of somebody who is not signed in to their browser. */
  readonly form: string;
  readonly flash: string;
  /** Holds the token of a one-time link for the page that it opens, and is sent to that page alone. */
  readonly link: string;
  /** Kept while somebody signs in at an issuer. */
  readonly sso: string;
  /** Kept between a right password and the second factor. */
  readonly pending: string;
  readonly secure: boolean;
}

/**
 * Names of the cookies at a public address. Over https the `__Host-` prefix keeps other hosts of the domain from setting them;
 * over plain http the port is in the name, because cookies do not know ports and two local instances would sign each other out.
 */
export function cookieNames(baseUrl: string): CookieNames {
  const { protocol, port } = new URL(baseUrl);
  const secure = protocol === "https:";
  const name = (what: string) => (secure ? `__Host-${what}` : `${what}-${port || "80"}`);
  return {
    session: name("reckon"),
    form: name("reckon-form"),
    flash: name("reckon-flash"),
    // `__Host-` demands the path "/" (RFC 6265bis section 4.1.3.2).
    link: secure ? "__Secure-reckon-link" : name("reckon-link"),
    sso: name("reckon-sso"),
    pending: name("reckon-pending"),
    secure,
  };
}

/** The cookies of a request by name; of a name sent twice the first counts (RFC 6265 section 5.4 sends the closest first). */
export function readCookies(header: string | null): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const pair of header?.split(";") ?? []) {
    const at = pair.indexOf("=");
    const name = pair.slice(0, at).trim();
    if (at > 0 && !found.has(name)) found.set(name, pair.slice(at + 1).trim());
  }
  return found;
}

/**
 * A `Set-Cookie` value.
 * @param maxAgeSeconds 0 removes it
 * @param path the part of the site it is sent to
 */
export function setCookie(name: string, value: string, secure: boolean, maxAgeSeconds: number, path = "/"): string {
  return `${name}=${value}; Path=${path}; HttpOnly; SameSite=Lax; Max-Age=${maxAgeSeconds}${secure ? "; Secure" : ""}`;
}

/**
 * The token that the forms of a page carry. It is derived from a secret in the browser's cookie, so that nothing has to be stored, and
 * differs each time that the page is drawn.
 * @param teamId the team whose page holds the form, so that an old form does not act on another team that is shown since
 * @param drawn tells this drawing of the page from all others
 */
export function csrfToken(secret: string, teamId = "", drawn = systemRandom(12).toString("base64url")): string {
  return `${drawn}.${sha256(`reckon form ${secret} ${teamId} ${drawn}`).toString("base64url")}`;
}

export function isCsrfToken(sent: string | null, secret: string, teamId?: string): boolean {
  return sent !== null && sameDigest(sha256(sent), sha256(csrfToken(secret, teamId, sent.split(".")[0])));
}

/**
 * Whether a form was sent from one of our own pages, according to the browser: by `Sec-Fetch-Site` if it sends that (not over plain http on
 * a local network), else by `Origin`, which must be the public address or the host that was asked. A client that sends neither is no
 * browser; its form token decides.
 */
export function isOwnOrigin(
  headers: { readonly site: string | null; readonly origin: string | null; readonly host: string | null },
  baseUrl: string,
): boolean {
  if (headers.site !== null) return headers.site === "same-origin";
  if (headers.origin === null) return true;
  if (!URL.canParse(headers.origin)) return false;
  const origin = new URL(headers.origin);
  return origin.origin === new URL(baseUrl).origin || origin.host === headers.host;
}
