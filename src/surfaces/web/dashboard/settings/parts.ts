import { type Content, html } from "../../../../kit/html.ts";
import { type Crumb, pageHead, tabs } from "../../ui/parts.ts";
import { frame } from "../frame.ts";
import type { ByOperator } from "../shared/call.ts";
import { text } from "../shared/params.ts";

/** What the pages of the installation share. */

const PLACES = [
  { path: "/settings", label: "Installation" },
  { path: "/settings/teams", label: "Teams" },
  { path: "/settings/people", label: "Accounts" },
  { path: "/settings/sso", label: "Single sign-on" },
  { path: "/settings/releases", label: "Installers" },
  { path: "/settings/limits", label: "Configuration" },
] as const;

interface Shown {
  readonly title: string;
  readonly intro: Content;
  readonly body: Content;
  readonly actions?: Content;
  /** On the way to a thing below one of the places; the tabs are left out. */
  readonly crumbs?: readonly Crumb[];
}

/** One of the installation's pages, between its tabs. */
export function settingsFrame(call: ByOperator, { title, intro, body, actions, crumbs }: Shown) {
  const main = html`${pageHead({ title, intro, ...(actions ? { actions } : {}), ...(crumbs ? { crumbs } : {}) })}
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

/** What the lists of these pages are asked for. */
export const PARAMS = { q: text(200), after: text(300) };
