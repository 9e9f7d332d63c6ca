import type { Html } from "../../../kit/html.ts";
import type { PageCall, SessionPrincipal } from "../../../platform/http/page.ts";
import { type Place, places } from "../../../platform/rooms/rooms.ts";
import { ICONS } from "../ui/icons.ts";
import type { NavItem } from "../ui/layout.ts";
import type { Tab } from "../ui/parts.ts";
import { manages } from "./shared/call.ts";

/** Which places of the dashboard somebody sees, and where they stand: in the sidebar, or as tabs of one item of it. */

/** Groups that a place may name, to be spread into it. */
export const WORK = { group: "Work" } as const;
export const EVIDENCE = { group: "Evidence" } as const;
export const TEAM = { group: "Team settings" } as const;
export const INSTALLATION = { group: "Installation", operator: true } as const;

/** Groups that are one item of the sidebar; it leads to the first of their places, and all of those have the same tabs. */
const TABBED: Readonly<Record<string, Html>> = {
  [TEAM.group]: ICONS.team,
  [INSTALLATION.group]: ICONS.installation,
};

export interface Navigation {
  readonly items: readonly NavItem[];
  /** The places beside the one that is open, where it is one of several tabs. */
  readonly tabs?: { readonly label: string; readonly list: readonly Tab[] };
}

/** The places that somebody may open. */
export function placesFor(
  { core, opens }: Pick<PageCall, "core" | "opens">,
  session: SessionPrincipal,
): readonly Place[] {
  return places(core).filter(
    (place) => isFor(place, session) && opens("GET", place.path) && !(place.billing && core.config.billing === "off"),
  );
}

function isFor({ operator, admin, teamless }: Place, { operator: runs, team }: SessionPrincipal): boolean {
  if (!operator && !admin) return teamless === true || team !== null;
  return (operator === true && runs) || (admin === true && manages(team));
}

/** What stands around a page for somebody. */
export function navigation(call: PageCall, session: SessionPrincipal): Navigation {
  const seen = placesFor(call, session);
  const here = placeOf(call.path, seen);
  const items = [...Map.groupBy(seen, ({ group }) => group)].flatMap(([group, list]): NavItem[] => {
    const icon = TABBED[group];
    if (!icon) return list.map(({ path, label, icon }) => ({ path, label, icon, group, current: path === here?.path }));
    const [first] = list;
    return first ? [{ path: first.path, label: group, icon, current: here?.group === group }] : [];
  });
  if (!here || !TABBED[here.group]) return { items };
  const list = seen
    .filter(({ group }) => group === here.group)
    .map(({ path, label }) => ({ label, href: call.href(path), current: path === here.path }));
  return { items, tabs: { label: here.group, list } };
}

/** The place that an address lies in; of several, the one with the longest path. */
function placeOf(address: string, seen: readonly Place[]): Place | undefined {
  const around = seen.filter(({ path }) => address === path || address.startsWith(`${path}/`));
  return around.sort((a, b) => b.path.length - a.path.length)[0];
}
