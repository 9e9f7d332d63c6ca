import { STATUS_CODES } from "node:http";
import { type Content, html } from "../../../kit/html.ts";
import type { PageCall, PageError } from "../../../platform/http/page.ts";
import { buttonLink } from "../ui/button.ts";
import { actButton } from "../ui/confirm.ts";
import { pageHead } from "../ui/parts.ts";
import { frame, plainFrame } from "./frame.ts";

const TITLES: Readonly<Record<number, string>> = {
  400: "That did not work",
  401: "Sign in first",
  403: "This is not for you",
  404: "Nothing here",
  409: "That does not fit",
  410: "Too late",
  413: "That was too much",
  429: "Slow down",
  500: "Something broke",
  503: "Not at the moment",
};

/** The other page of ours that led here, as the browser tells it. */
function cameFrom({ header, baseUrl, path, href }: PageCall): string | undefined {
  const referer = header("referer") ?? "";
  const from = URL.canParse(referer) ? new URL(referer) : undefined;
  return from?.origin === new URL(baseUrl).origin && from.pathname !== href(path) ? from.href : undefined;
}

const MAX_TEAMS = 5;

/** Links name no team: what somebody was sent may belong to another of their teams. */
function otherTeams(call: PageCall, status: number): Content {
  const { session, path, params, query } = call;
  if (!session?.team || (status !== 404 && status !== 403) || Object.keys(params).length + query.size === 0)
    return false;
  const others = session.teams.filter(({ id }) => id !== session.team?.id).slice(0, MAX_TEAMS);
  const next = query.size > 0 ? `${path}?${query}` : path;
  return (
    others.length > 0 &&
    html`<p>You look at ${session.team.name} now. Is it of another team of yours?</p>
<div class="actions">${others.map(({ id, name }) => actButton(call, { action: "/team", hidden: { team: id, next }, label: `Look in ${name}` }))}</div>`
  );
}

/** A page that explains why something was refused, and where to go on. */
export function errorPage(call: PageCall, error: PageError) {
  const { status, text } = error;
  const title = error.title ?? TITLES[status] ?? STATUS_CODES[status] ?? "That did not work";
  // What is gone may still stand on the page before.
  const back = call.session && status === 404 ? cameFrom(call) : undefined;
  const main = html`${pageHead({ title, intro: text })}
${otherTeams(call, status)}
<p class="actions">${back && buttonLink("Back to the page before", back)}${call.session ? buttonLink("To the overview", call.href("/overview")) : buttonLink("Sign in", call.href("/login"))}</p>`;
  return (call.session ? frame : plainFrame)(call, { title, main });
}
