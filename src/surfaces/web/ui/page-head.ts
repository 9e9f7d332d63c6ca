import { attributes, type Content, type Html, html } from "../../../kit/html.ts";

/** A step on the way to a page; the last one has no address. */
export interface Crumb {
  readonly label: string;
  readonly href?: string | undefined;
}

/** What stands above the content of a page. */
export interface PageHead {
  readonly title: Content;
  /** One line: what this page is for. */
  readonly says?: Content;
  /** Buttons and links on the right. */
  readonly actions?: Content;
  readonly crumbs?: readonly Crumb[] | undefined;
}

/** The head of a page; holds the only `h1`. */
export function pageHead({ title, says, actions, crumbs }: PageHead): Html {
  return html`<header class="page-head">
${crumbs && crumbs.length > 0 && html`<nav aria-label="Breadcrumbs" class="crumbs"><ol>${crumbs.map(crumb)}</ol></nav>`}
<div class="page-head-row"><div class="page-head-text"><h1>${title}</h1>${says && html`<p class="says">${says}</p>`}</div>
${actions && html`<div class="actions">${actions}</div>`}</div></header>`;
}

function crumb({ label, href }: Crumb): Html {
  return href === undefined
    ? html`<li><span aria-current="page">${label}</span></li>`
    : html`<li><a${attributes({ href })}>${label}</a></li>`;
}
