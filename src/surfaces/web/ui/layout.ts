import { attributes, type Content, type Html, html } from "../../../kit/html.ts";
import { hiddenInputs } from "./confirm.ts";
import { options } from "./field.ts";
import { ICONS } from "./icons.ts";

/** An item of the sidebar. Those of one group stand together, under its name; those without one come last. */
export interface NavItem {
  /** Below the base URL, e.g. `/devices`. */
  readonly path: string;
  readonly label: string;
  readonly icon?: Html | undefined;
  readonly current: boolean;
  readonly group?: string | undefined;
}

/** A message about what was just done, or went wrong. */
export interface Flash {
  readonly kind: "done" | "warn" | "wrong";
  readonly text: Content;
}

interface Team {
  readonly id?: string | undefined;
  readonly name: string;
  /** The person's other teams; the switcher is shown when there are any. */
  readonly others: readonly { readonly id: string; readonly name: string }[];
}

/** A whole page. */
export interface Page {
  /** For the window; the page's own heading comes from `pageHead`. */
  readonly title: string;
  /** Makes an address from a path below the base URL. */
  readonly href: (path: string) => string;
  /** The places of the dashboard; null for the narrow, centred layout of sign-in, set-up and errors. */
  readonly nav: readonly NavItem[] | null;
  readonly team?: Team | undefined;
  readonly person?: { readonly email: string; readonly name: string | null } | undefined;
  /** The page that searches everything, its answers as JSON, and whose recent places the script keeps apart from those of others. */
  readonly search?: { readonly href: string; readonly answers: string; readonly recent: string } | undefined;
  /** For the forms of the header; without it there is no switcher and no "Sign out". */
  readonly csrf?: string | undefined;
  readonly flash?: Flash | undefined;
  readonly assets: Assets & { readonly dashboard?: string };
  readonly main: Content;
  /** Uses the full width of the window, for logs and waterfalls. */
  readonly wide?: boolean | undefined;
}

/** Addresses of a page's style sheet and of the script, as they are. */
interface Assets {
  readonly style: string;
  readonly script: string;
}

/** The product's mark: a tally of four and the stroke that makes it five. Also the icon of the window. */
const MARK =
  "data:image/svg+xml,%3Csvg%20xmlns=%27http://www.w3.org/2000/svg%27%20viewBox=%270,0,24,24%27%20fill=%27none%27%20stroke=%27%234f5bd5%27%20stroke-width=%272.4%27%20stroke-linecap=%27round%27%3E%3Cpath%20d=%27M5,5v14M9.7,5v14M14.3,5v14M19,5v14M2.5,16.5l19-9%27/%3E%3C/svg%3E";

/** How every document begins. @param more what else stands in its head */
export function documentHead(title: string, { style, script }: Assets, more: Content): Html {
  // The script is not deferred: it sets the chosen theme before anything is painted. The rest of it waits for the document.
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<script${attributes({ src: script })}></script>
<link rel="stylesheet"${attributes({ href: style })}>
<link rel="icon"${attributes({ href: MARK })}>
${more}
</head>
`;
}

/** The whole document of a page. */
export function layout(page: Page): Html {
  const { title, nav, flash, assets, main, wide } = page;
  return html`${documentHead(`${title} · Reckon`, assets, html`<meta name="robots" content="noindex">${assets.dashboard !== undefined && html`<script defer${attributes({ src: assets.dashboard })}></script>`}`)}
<body class="${nav === null ? "narrow" : "full"}${wide && " wide"}">
<a class="skip" href="#main">Skip to content</a>
${header(page)}
<div class="shell">${nav !== null && sidebar(nav, page.href)}
<main id="main" tabindex="-1">${flash && flashBox(flash)}${main}</main></div>
</body>
</html>
`;
}

/** Tells what was just done, or went wrong. */
export function flashBox({ kind, text }: Flash): Html {
  return html`<div class="flash ${kind}" role="${kind === "wrong" ? "alert" : "status"}">${text}</div>`;
}

function header(page: Page): Html {
  const { href, nav, team, person, search } = page;
  // `popovertarget` opens the menu without the script; on wide screens the style sheet shows it in place.
  const menu =
    nav !== null &&
    html`<button type="button" class="button quiet icon menu-button" popovertarget="menu" aria-label="Menu">${MENU_ICON}</button>`;
  return html`<header class="top">${menu}<a class="brand"${attributes({ href: href(nav === null ? "/" : "/overview") })}>${BRAND}<span>Reckon</span></a>
${team && teamSwitcher(page, team)}
<div class="top-end">${search && searchLink(search)}${THEME_SWITCH}${person && account(page, person)}</div></header>`;
}

/** Leads to the page; the script opens a dialog instead. */
const searchLink = ({ href, answers, recent }: NonNullable<Page["search"]>): Html =>
  html`<a class="search-open"${attributes({ href, "data-answers": answers, "data-recent": recent, "aria-keyshortcuts": "Control+K Meta+K" })}>${ICONS.search}<span>Search</span><kbd aria-hidden="true">Ctrl K</kbd></a>`;

function teamSwitcher({ href, csrf }: Page, { id = "", name, others }: Team): Html {
  if (others.length === 0 || csrf === undefined) return html`<p class="team-name">${name}</p>`;
  const list = [{ value: id, label: name }, ...others.map(({ id, name }) => ({ value: id, label: name }))];
  // Browsers would bring the team of then to a page that somebody comes back to, and it shows the one of now.
  return html`<form class="team" method="post" autocomplete="off"${attributes({ action: href("/team") })} data-auto>${hiddenInputs({ _csrf: csrf })}<label class="vh" for="team-switch">Team</label><select id="team-switch" name="team">${options(list, id)}</select><button type="submit" class="button small" data-apply>Switch</button></form>`;
}

function account({ href, csrf }: Page, { email, name }: { email: string; name: string | null }): Html {
  const initial = ([...(name ?? email).trim()][0] ?? "?").toUpperCase();
  return html`<details class="account" data-menu><summary><span class="avatar" aria-hidden="true">${initial}</span><span class="vh">Account of ${name ?? email}</span></summary>
<div class="account-panel"><p>${name && html`<strong>${name}</strong>`}<span>${email}</span></p><a${attributes({ href: href("/account") })}>Your account</a>
${csrf !== undefined && html`<form method="post"${attributes({ action: href("/logout") })}>${hiddenInputs({ _csrf: csrf })}<button type="submit">Sign out</button></form>`}</div></details>`;
}

function sidebar(nav: readonly NavItem[], href: (path: string) => string): Html {
  const groups = [...Map.groupBy(nav, ({ group }) => group ?? "")];
  return html`<nav id="menu" class="side" aria-label="Main" popover>${groups.map(
    ([group, items]) =>
      html`${group && html`<h2>${group}</h2>`}<ul>${items.map(
        ({ path, label, icon, current }) =>
          html`<li><a${attributes({ href: href(path), "aria-current": current && "page" })}>${icon}${label}</a></li>`,
      )}</ul>`,
  )}</nav>`;
}

export const BRAND = html`<svg class="mark" viewBox="0 0 24 24" width="22" height="22" aria-hidden="true"><path d="M5 5v14M9.7 5v14M14.3 5v14M19 5v14M2.5 16.5l19-9"/></svg>`;
const MENU_ICON = html`<svg viewBox="0 0 20 20" width="20" height="20" aria-hidden="true"><path d="M3 5.5h14M3 10h14M3 14.5h14"/></svg>`;
/** Shown by the script, which knows the theme. */
export const THEME_SWITCH = html`<button type="button" class="button quiet icon theme" data-theme-switch><svg viewBox="0 0 20 20" width="18" height="18" aria-hidden="true"><circle cx="10" cy="10" r="7"/><path class="half" d="M10 3a7 7 0 0 1 0 14z"/></svg><span class="vh">Theme</span></button>`;
