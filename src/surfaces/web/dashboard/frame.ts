import { findTeam } from "../../../identity/teams/teams.ts";
import { SECOND_MS } from "../../../kit/clock.ts";
import { type Content, type Html, html } from "../../../kit/html.ts";
import type { PageCall } from "../../../platform/http/page.ts";
import { lagOf } from "../../../platform/projections/projections.ts";
import { assetPath } from "../ui/assets.ts";
import { layout } from "../ui/layout.ts";
import { tabs } from "../ui/parts.ts";
import { navigation } from "./navigation.ts";

/** A shorter delay of lists and sums is not worth telling. */
const MAX_LAG_MS = 10 * SECOND_MS;

interface Framed {
  readonly title: string;
  readonly main: Content;
  /** For tables that need the room. */
  readonly wide?: boolean;
}

/** Puts a page's content into the dashboard: navigation, team, account, what was just done. */
export function frame(call: PageCall, { title, main, wide }: Framed): Html {
  const { session, href } = call;
  const around = session && navigation(call, session);
  return layout({
    title,
    href,
    nav: around?.items ?? null,
    team: session?.team
      ? {
          id: session.team.id,
          name: session.team.name,
          others: session.teams.filter((team) => team.id !== session.team?.id).map(({ id, name }) => ({ id, name })),
        }
      : undefined,
    search: session
      ? {
          href: href("/search"),
          answers: href("/search.json"),
          recent: `${session.userId} ${session.team?.id ?? ""}`,
        }
      : undefined,
    person: session ? { email: session.email, name: session.name } : undefined,
    csrf: session ? call.csrf : undefined,
    flash: call.flash,
    assets: {
      style: href(assetPath("style.css")),
      script: href(assetPath("script.js")),
      dashboard: href(assetPath("dashboard.js")),
    },
    main: html`${session?.team && movedNote(call, session.team.id)}${session?.team && unreadNote(call)}${around?.tabs && tabs(around.tabs.label, around.tabs.list)}${main}`,
    ...(wide === undefined ? {} : { wide }),
  });
}

/** Says on every page of a team that another server serves it. */
function movedNote({ core }: PageCall, teamId: string): Content {
  const moved = findTeam(core, teamId)?.movedTo;
  return moved
    ? html`<div class="flash warn" role="status">This team moved to <a href="${moved}">${moved}</a>. Nothing new comes here; what is shown stands as it was then.</div>`
    : undefined;
}

/** Says that lists and sums lack some of what was delivered, as while a long record is read after an upgrade. */
function unreadNote({ core }: PageCall): Content {
  return lagOf(core) > MAX_LAG_MS
    ? html`<div class="flash warn" role="status">Not all that was delivered is read yet, as after an upgrade: lists and sums lack some of it. Reload the page in a while.</div>`
    : undefined;
}

/** A page without the dashboard around it: sign-in, set-up, links. Narrow and centred even for who is signed in. */
export function plainFrame(call: PageCall, { title, main }: Framed): Html {
  return layout({
    title,
    href: call.href,
    nav: null,
    flash: call.flash,
    assets: { style: call.href(assetPath("style.css")), script: call.href(assetPath("script.js")) },
    main,
  });
}
