import { type Html, html } from "../../../../kit/html.ts";
import { Problem } from "../../../../kit/problem.ts";
import {
  heldLinkToken,
  holdLinkToken,
  type Page,
  type PageCall,
  type PageReply,
  page,
  redirect,
} from "../../../../platform/http/page.ts";
import { hiddenInputs } from "../../ui/confirm.ts";
import { formSpec } from "../../ui/form-spec.ts";
import { pageHead } from "../../ui/parts.ts";
import { plainFrame } from "../frame.ts";

/*
 * How the token of a one-time link comes to its page without standing in an address that servers, proxies and the Referer header
 * see (OWASP ASVS 5.0, 14.2.1). A link carries it behind the "#", which browsers send nowhere; the script, or a person who
 * pastes it, sends it on in a form. It then waits in a cookie of this page alone, so that reloading and signing in keep it.
 */

type Anyone = PageCall<"anyone">;

/** A page behind a one-time link. */
export interface LinkPage {
  /** Names the page in logs and tests. */
  readonly id: string;
  readonly path: `/${string}`;
  readonly title: string;
  /** Where a person has the link from. */
  readonly from: string;
  /** Draws the page for a token. @throws Problem 404 or 410 for one that does not work */
  readonly draw: (call: Anyone, token: string) => Html;
  /** @throws Problem when nobody can open the page, whatever their link */
  readonly require?: (call: Anyone) => void;
}

const TOKEN = /\brkl_\w{1,100}/;

const UNKNOWN = "This link is not known. Was it copied whole?";

/** The reply after a link was used, which also removes it from the browser. */
export const used = (call: Anyone, path: string, reply: PageReply): PageReply => ({
  ...reply,
  headers: [...(reply.headers ?? []), holdLinkToken(call, path, null)],
});

/** The form with which the script opens the link in the address bar; nobody sees it. */
export const opener = ({ href, csrf }: Anyone, path: string): Html =>
  html`<form method="post" action="${href(`${path}/open`)}" data-link hidden>${hiddenInputs({ _csrf: csrf, token: "" })}</form>`;

const LINK = formSpec({
  token: {
    kind: "text",
    label: "Your link, or the code at its end",
    hint: "Paste the whole link, or only what follows the #: it begins with rkl_.",
    required: true,
    maxLength: 2_000,
    autocomplete: "off",
    mono: true,
  },
});

function pastePage(call: Anyone, { path, title, from }: LinkPage, wrong?: string): Html {
  const main = html`${pageHead({ title, intro: `You need the one-time link that ${from}.` })}
${LINK.draw(call, { action: `${path}/open`, wrong, submit: "Continue" })}
${opener(call, path)}`;
  return plainFrame(call, { title, main });
}

/** The two ways into a page behind a link: its address, and the form that opens a link. */
export function linkPage(link: LinkPage): Page[] {
  const { id, path } = link;
  const open = (call: Anyone, text: string): PageReply => {
    const token = TOKEN.exec(text)?.[0];
    if (token === undefined) return { status: 404, body: pastePage(call, link, UNKNOWN) };
    return { ...redirect(path), headers: [holdLinkToken(call, path, token)] };
  };
  return [
    page({ id, method: "GET", path, access: "anyone" }, (call) => {
      link.require?.(call);
      // Links from before, which are still out there.
      const sent = call.query.get("token");
      if (sent !== null) return open(call, sent);
      const token = heldLinkToken(call);
      if (token === undefined) return pastePage(call, link);
      try {
        return link.draw(call, token);
      } catch (error) {
        if (!(error instanceof Problem) || (error.status !== 404 && error.status !== 410)) throw error;
        return {
          status: error.status,
          headers: [holdLinkToken(call, path, null)],
          body: pastePage(call, link, error.message),
        };
      }
    }),
    page({ id: `${id}Open`, method: "POST", path: `${path}/open`, access: "anyone" }, (call) => {
      link.require?.(call);
      return open(call, LINK.read(call.form).token);
    }),
  ];
}
