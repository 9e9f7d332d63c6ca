import { isIP } from "node:net";
import { getRouterParams } from "h3";
import { plainAddress } from "../../kit/address.ts";
import { newToken } from "../../kit/tokens.ts";
import { whyNot } from "./access.ts";
import { cookieNames, csrfToken, readCookies } from "./cookies.ts";
import { takesGzip } from "./media.ts";
import type { PageCall, PageOptions, SessionPrincipal } from "./page.ts";
import { readFlash, type Visit } from "./page-reply.ts";
import type { Exchange } from "./pipeline.ts";
import { peerAddress } from "./request.ts";

interface Known {
  readonly session?: SessionPrincipal | undefined;
  readonly token?: string | undefined;
  /** The secret of their forms, if it was found before. */
  readonly secret?: string | undefined;
}

/** Somebody who opens a page: what their request and its cookies tell. */
export class Visitor {
  readonly visit: Visit;
  readonly session: SessionPrincipal | undefined;
  readonly call: PageCall;

  constructor(exchange: Exchange, hasForms: boolean, { session, token, secret: kept }: Known) {
    const { core, event, header } = exchange;
    const baseUrl = exchange.serving.baseUrl();
    const names = cookieNames(baseUrl);
    const cookies = readCookies(header("cookie"));
    const stored = kept ?? (session ? token : cookies.get(names.form));
    const secret = stored ?? newToken("rks", core.random);
    const headOnly = event.req.method === "HEAD";
    this.session = session;
    this.visit = {
      names,
      cookies,
      token,
      secret,
      headOnly,
      takesGzip: takesGzip(header("accept-encoding")),
      hasForms,
      isSignedIn: session !== undefined,
      isNewSecret: stored === undefined,
    };
    const subPath = subPathOf(baseUrl);
    const url = new URL(event.req.url);
    const isBelow = `${url.pathname}/`.startsWith(`${subPath}/`);
    this.call = {
      core,
      session,
      params: getRouterParams(event, { decode: true }),
      query: url.searchParams,
      form: new URLSearchParams(),
      path: isBelow ? url.pathname.slice(subPath.length) || "/" : url.pathname,
      headOnly,
      baseUrl,
      csrf: csrfToken(secret, session?.team?.id),
      flash: readFlash(cookies.get(names.flash)),
      userAgent: header("user-agent"),
      ip: exchange.ip,
      peer: peerAddress(event),
      bearer: exchange.bearer,
      vouchedEmail: vouchedEmail(exchange),
      header,
      href: (path) => subPath + path,
      opens: (method, path) => {
        const spec = exchange.serving.specOf?.(method, path);
        return spec === undefined || whyNot(spec, session) === undefined;
      },
    };
  }
}

/** The path of the public address, without a slash at its end. */
export const subPathOf = (baseUrl: string) => new URL(baseUrl).pathname.replace(/\/$/, "");

const sameAddress = (a: string, b: string | undefined) => a.trim().toLowerCase() === b?.trim().toLowerCase();

/**
 * The address of the person signed in at the proxy, when one is trusted to say so (RECKON_PROXY_SIGN_IN). From any other peer the header is
 * ignored.
 */
function vouchedEmail({ core, event, header, serving }: Exchange): string | undefined {
  const { proxySignIn } = core.config;
  if (proxySignIn === null) return undefined;
  const peer = plainAddress(peerAddress(event));
  if (!serving.trusted.check(peer, isIP(peer) === 6 ? "ipv6" : "ipv4")) return undefined;
  return header(proxySignIn) ?? undefined;
}

/** Finds who opens a page. @throws the store's error when it cannot be known whose the session is */
export function visitorOf(exchange: Exchange, pages: PageOptions, hasForms: boolean, secret?: string): Visitor {
  const { core, header, serving } = exchange;
  const token = readCookies(header("cookie")).get(cookieNames(serving.baseUrl()).session);
  const found = token === undefined ? undefined : pages.findSession(core, token);
  // The proxy names somebody else by now, or nobody; or the person has become an operator, whom no proxy signs in.
  const isStale = found?.method === "proxy" && (found.operator || !sameAddress(found.email, vouchedEmail(exchange)));
  const session = isStale ? undefined : found;
  return new Visitor(exchange, hasForms, { session, token, secret });
}
