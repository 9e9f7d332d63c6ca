import type { PageCall } from "../../../../platform/http/page.ts";
import type { Sort } from "../../ui/list.ts";
import { link, type Query, setOf } from "./links.ts";
import { choice } from "./params.ts";

/** The order of a list, as its address names it: by what, and `dir=asc` for the lowest first. */

/** Parameters of a list that can be ordered by some columns. */
export const sortParams = <const By extends string>(columns: readonly By[]) => ({
  sort: choice(columns),
  dir: choice(["asc"]),
});

interface Ordered<By extends string> {
  readonly path: `/${string}`;
  /** What else the address names. */
  readonly query: Query;
  readonly by: By;
  readonly ascending: boolean;
  /** The default column. */
  readonly usual: By;
}

/** What a click on a column's label does: it puts the highest first or, where they are first already, the lowest. */
export function sorter<By extends string>(call: Pick<PageCall, "href">, list: Ordered<By>): (by: By) => Sort {
  const { path, query, ascending, usual } = list;
  return (by) => {
    const isCurrent = by === list.by;
    const dir = isCurrent && !ascending ? "asc" : undefined;
    const sort = by === usual && dir === undefined ? undefined : by;
    return {
      href: link(call, path, { ...setOf(query), sort, dir }),
      ...(isCurrent ? { direction: ascending ? ("ascending" as const) : ("descending" as const) } : {}),
    };
  };
}
