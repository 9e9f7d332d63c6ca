import type { Content, Html } from "../../../kit/html.ts";
import type { PageCall, SessionPrincipal } from "../../../platform/http/page.ts";
import { type Place, places } from "../../../platform/rooms/rooms.ts";
import { assetPath } from "../ui/assets.ts";
import { layout, type NavItem } from "../ui/layout.ts";

interface Framed {
  readonly title: string;
  readonly main: Content;
  /** For tables that need the room. */
  readonly wide?: boolean;
}

const isFor = ({ operator, admin }: Place, session: SessionPrincipal) =>
  session.operator || (!operator && (!admin || (session.team !== null && session.team.role !== "member")));

const isAt = (path: string, place: string) => path === place || path.startsWith(`${place}/`);

/** Puts a page's content into the dashboard: navigation, team, account, what was just done. */
export function frame(call: PageCall, { title, main, wide }: Framed): Html {
  const { session, href } = call;
  const nav: NavItem[] | null = session
    ? places(call.core)
        .filter((place) => isFor(place, session) && !(place.billing && call.core.config.billing === "off"))
        .map(({ path, label, group }) => ({
          path,
          label,
          group,
          current: isAt(call.path, path),
        }))
    : null;
  return layout({
    title,
    href,
    nav,
    team: session?.team
      ? {
          id: session.team.id,
          name: session.team.name,
          others: session.teams.filter((team) => team.id !== session.team?.id).map(({ id, name }) => ({ id, name })),
        }
      : undefined,
    person: session ? { email: session.email, name: session.name } : undefined,
    csrf: session ? call.csrf : undefined,
    flash: call.flash,
    assets: { style: href(assetPath("style.css")), script: href(assetPath("script.js")) },
    main,
    ...(wide === undefined ? {} : { wide }),
  });
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
