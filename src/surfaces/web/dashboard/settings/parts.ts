import { type Content, html } from "../../../../kit/html.ts";
import type { PageCall } from "../../../../platform/http/page.ts";
import { type Crumb, pageHead } from "../../ui/page-head.ts";
import { tabs } from "../../ui/tabs.ts";
import { frame } from "../frame.ts";

/** What the pages of the installation share. */

export type ByOperator = PageCall<"operator">;

const PLACES = [
  { path: "/settings", label: "Installation" },
  { path: "/settings/teams", label: "Teams" },
  { path: "/settings/people", label: "Accounts" },
  { path: "/settings/releases", label: "Installers" },
  { path: "/settings/limits", label: "Configuration" },
] as const;

interface Shown {
  readonly title: string;
  readonly says: Content;
  readonly body: Content;
  readonly actions?: Content;
  /** On the way to a thing below one of the places; the tabs are left out. */
  readonly crumbs?: readonly Crumb[];
}

/** One of the installation's pages, between its tabs. */
export function settingsFrame(call: ByOperator, { title, says, body, actions, crumbs }: Shown) {
  const main = html`${pageHead({ title, says, ...(actions ? { actions } : {}), ...(crumbs ? { crumbs } : {}) })}
${
  !crumbs &&
  tabs(
    "Settings",
    PLACES.map(({ path, label }) => ({ label, href: call.href(path), current: call.path === path })),
  )
}
${body}`;
  return frame(call, { title, main });
}

/** What is searched for, bounded. */
export const searched = (call: ByOperator) => (call.query.get("q") ?? "").slice(0, 200);

/** Where a page of a list begins, bounded. */
export const startAfter = (call: ByOperator) => (call.query.get("after") ?? "").slice(0, 300);

/** Addresses of the pages around one, filters kept. */
export function pagesAround(call: ByOperator, path: string, next: string | undefined) {
  const q = searched(call);
  const address = (after?: string) => {
    const query = new URLSearchParams({ ...(q ? { q } : {}), ...(after === undefined ? {} : { after }) });
    return call.href(query.size > 0 ? `${path}?${query}` : path);
  };
  return {
    labels: { newer: "Previous", older: "Next" },
    ...(startAfter(call) === "" ? {} : { first: address() }),
    ...(next === undefined ? {} : { older: address(next) }),
  };
}
