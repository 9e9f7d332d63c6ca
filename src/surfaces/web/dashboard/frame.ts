import type { Content, Html } from "../../../kit/html.ts";
import type { PageCall, SessionPrincipal } from "../../../platform/http/page.ts";
import { assetPath } from "../ui/assets.ts";
import { layout, type NavItem } from "../ui/layout.ts";

interface Place {
  readonly path: string;
  readonly label: string;
  readonly group?: string;
  /** For who runs the installation; for owners and admins of the team. */
  readonly operator?: true;
  readonly admin?: true;
}

/** The places of the dashboard, in the order of its navigation. */
const PLACES: readonly Place[] = [
  { path: "/overview", label: "Overview" },
  { path: "/devices", label: "Devices" },
  { path: "/brain", label: "Brain", group: "Record" },
  { path: "/sessions", label: "Sessions", group: "Record" },
  { path: "/telemetry", label: "Telemetry", group: "Record" },
  { path: "/errors", label: "Errors", group: "Team" },
  { path: "/spend", label: "Spend", group: "Team" },
  { path: "/policy", label: "Policy", group: "Team" },
  { path: "/license", label: "Licence", group: "Team" },
  { path: "/packs", label: "Packs", group: "Team" },
  { path: "/people", label: "People", group: "Team" },
  { path: "/audit", label: "Audit", group: "Team", admin: true },
  { path: "/my-brain", label: "My Brain", group: "You" },
  { path: "/account", label: "Your account", group: "You" },
  { path: "/settings", label: "Settings", group: "Installation", operator: true },
  { path: "/requests", label: "Requests", group: "Installation", operator: true },
  { path: "/curate", label: "Marketplace", group: "Installation", operator: true },
];

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
    ? PLACES.filter((place) => isFor(place, session)).map(({ path, label, group }) => ({
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
