import {
  ATTEMPT_MS,
  acceptVouched,
  beginSso,
  callbackPath,
  findIssuer,
  finishSso,
  getIssuer,
  type Issuer,
  linkVouched,
  listIssuers,
} from "../../../../identity/sso/sso.ts";
import { actorOf } from "../../../../identity/web-sessions/web-sessions.ts";
import { SECOND_MS } from "../../../../kit/clock.ts";
import { type Content, type Html, html } from "../../../../kit/html.ts";
import { fail, forbidden } from "../../../../kit/problem.ts";
import type { Limit } from "../../../../platform/http/endpoint.ts";
import {
  keepOnTheWay,
  keptOnTheWay,
  leave,
  type PageCall,
  type PageError,
  type PageReply,
  page,
  redirect,
} from "../../../../platform/http/page.ts";
import { buttonLink } from "../../ui/button.ts";
import { pageHead } from "../../ui/parts.ts";
import { plainFrame } from "../frame.ts";
import { originOf } from "../shared/call.ts";

/** The way through an issuer of single sign-on and back. */

type Anyone = PageCall<"anyone">;

const limitSso: Limit = { name: "sso", quota: (config) => config.limitSso, per: "ip", headers: "limited" };

/** Reads where to go on after signing in: a path of this site, or the overview. */
export function readNext(given: string | null): string {
  // A browser takes a backslash for a slash, and two of either for another host.
  return given && /^\/(?![/\\])[\x21-\x7e]{0,1000}$/.test(given) && !given.includes("\\") ? given : "/overview";
}

/** A button for each issuer; nothing where there is none. */
export function ssoButtons({ core, href }: Pick<Anyone, "core" | "href">, next: string): Content {
  const issuers = listIssuers(core);
  if (issuers.length === 0) return false;
  const query = new URLSearchParams({ next });
  return html`<div class="sso">${issuers.map(({ name, label }) =>
    buttonLink(`Continue with ${label}`, href(`/sso/${name}?${query}`), { look: "primary" }),
  )}</div>`;
}

/** The same above the form of a password. */
export function ssoOrPassword(call: Pick<Anyone, "core" | "href">, next: string): Content {
  const buttons = ssoButtons(call, next);
  return buttons && html`${buttons}<p class="or"><span>or with a password</span></p>`;
}

/**
 * Sends a browser to an issuer, to sign in or to link an account.
 * @param linkTo the account of somebody who is signed in
 */
async function toIssuer(call: PageCall, issuer: Issuer, next: string, linkTo?: string) {
  const { location, sealed } = await beginSso(call.core, issuer, {
    baseUrl: call.baseUrl,
    next,
    linkTo: linkTo ?? null,
  });
  return { location, cookie: keepOnTheWay(call, "sso", sealed, ATTEMPT_MS / SECOND_MS) };
}

/** A form may not lead to another site, so somebody who wants to link an account follows a link there. */
export async function continuePage(call: PageCall<"person">, issuerId: string): Promise<PageReply> {
  const issuer = findIssuer(call.core, issuerId);
  if (!issuer) fail(forbidden, "This single sign-on is not offered any more.");
  const { location, cookie } = await toIssuer(call, issuer, "/account", call.session.userId);
  const main = html`${pageHead({ title: `Link ${issuer.label}`, intro: "Sign in there within ten minutes; you come back to your account." })}
<p>${buttonLink(`Continue to ${new URL(issuer.issuer).host}`, location, { look: "primary" })} ${buttonLink("Not now", call.href("/account"))}</p>`;
  return { body: plainFrame(call, { title: `Link ${issuer.label}`, main }), headers: [cookie] };
}

async function comeBack(call: Anyone): Promise<PageReply> {
  const { core, baseUrl, query, session } = call;
  const issuer = getIssuer(core, String(call.params.name));
  const { vouched, attempt } = await finishSso(core, issuer, {
    baseUrl,
    sealed: keptOnTheWay(call, "sso"),
    answer: query,
    ip: call.ip(),
  });
  const forget = keepOnTheWay(call, "sso", null);
  if (attempt.linkTo !== null) {
    // Whoever signed in meanwhile as somebody else must not get the other's link.
    if (session?.userId !== attempt.linkTo) fail(forbidden, "You are not signed in as who began this. Begin again.");
    const { userId, sessionId } = session;
    await linkVouched(core, issuer, vouched, userId, actorOf(session, call.ip()), sessionId);
    return { ...redirect("/account", `${issuer.label} is linked.`), headers: [forget] };
  }
  const origin = originOf(call);
  const token = await acceptVouched(core, issuer, vouched, origin, session?.sessionId);
  return { ...redirect(attempt.next), session: token, headers: [forget] };
}

/** Why somebody was not let in, and the way to try again. What their browser kept is of no more use. */
function refusedPage(call: PageCall, { text, status }: PageError): PageReply {
  const title = status === 502 ? "Single sign-on does not answer" : "You are not signed in";
  const main: Html = html`${pageHead({ title, intro: text })}
<p>${buttonLink("Back to sign-in", call.href("/login"), { look: "primary" })}</p>
${status === 502 && html`<p class="says">Operators can sign in with their password meanwhile.</p>`}`;
  return { body: plainFrame(call, { title, main }), headers: [keepOnTheWay(call, "sso", null)] };
}

export const ssoPages = [
  page(
    {
      id: "ssoBegin",
      method: "GET",
      path: "/sso/:name",
      access: "anyone",
      limits: [limitSso],
      renderError: refusedPage,
    },
    async (call) => {
      const issuer = getIssuer(call.core, String(call.params.name));
      const { location, cookie } = await toIssuer(call, issuer, readNext(call.query.get("next")));
      return leave(location, [cookie]);
    },
  ),
  page(
    {
      id: "ssoCallback",
      method: "GET",
      path: callbackPath(":name") as `/${string}`,
      access: "anyone",
      limits: [limitSso],
      renderError: refusedPage,
    },
    comeBack,
  ),
];
